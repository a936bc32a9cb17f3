"""Find and import a verifier by its name: `package.module:function` or `path.py:function`."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import linecache
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from counterproof.core.errors import BindingError, describe, nearest

_FORM = "give package.module:function or path.py:function"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A verifier that was found.

    Attributes:
        function: The callable.
        spec: What was asked for.
        source_path: The file that defines it, if it has one.
        source_line: Its first line there, from 1; 0 when unknown.
        source_sha256: Digest of that file as it was executed or lies there now; "" when there is none.
    """

    function: Callable[..., Any] = field(repr=False, compare=False)
    spec: str
    source_path: str | None
    source_line: int
    source_sha256: str


def load_function(spec: str) -> Loaded:
    """Return the callable that `spec` names; importing it runs its code.

    `module:object.method`, callable objects, and classes that need no argument and whose objects are callable are
    allowed. The folder of a file, or the current folder for a module, comes first on `sys.path` while loading, and
    stays at its end, for imports that happen inside functions.

    Raises:
        BindingError: There is no such file, module or name (the nearest are named), its code raises, or what is found
            cannot be called.
    """
    where, _, name = spec.rpartition(":")
    is_file = where.endswith(".py") or os.sep in where
    if not where or not name:
        raise BindingError(f"'{spec}' names no function{_example(spec)}; {_FORM}")
    module = _from_file(Path(where), spec) if is_file else _from_package(where, spec)
    found: Any = module
    at = where
    for part in name.split("."):
        if not hasattr(found, part):
            raise BindingError(f"{at} has no '{part}'; {_nearest_callable(part, found)}")
        at += (":" if found is module else ".") + part
        found = getattr(found, part)
    return _described(_callable(found, spec), spec, getattr(module, "__file__", None))


def _example(spec: str) -> str:
    return f" (for example {spec.rstrip(':')}:reward)" if spec.rstrip(":").endswith(".py") else ""


def _nearest_callable(part: str, owner: object) -> str:
    names = [name for name in dir(owner) if not name.startswith("_") and callable(getattr(owner, name, None))]
    if isinstance(owner, ModuleType):  # its own before what it imported
        own = [name for name in names if getattr(getattr(owner, name), "__module__", None) == owner.__name__]
        names = own or names
    return nearest(part, names) if names else "nothing in it can be called"


def _callable(found: Any, spec: str) -> Callable[..., Any]:
    if inspect.isclass(found):
        if not any("__call__" in vars(cls) for cls in found.__mro__):
            raise BindingError(f"'{spec}' is a class whose objects cannot be called; name a function or a method")
        with _foreign(f"'{spec}' is a class, and making an object of it without arguments failed"):
            found = found()
    if not callable(found):
        raise BindingError(f"'{spec}' is {type(found).__name__}, which cannot be called; name a function")
    return found  # type: ignore[no-any-return]


def _from_file(path: Path, spec: str) -> ModuleType:
    if not path.is_file():
        raise BindingError(f"there is no file '{path}'; {_nearest_file(path)}")
    source = path.read_bytes()
    key = f"counterproof_verifier_{path.stem}_{hashlib.sha256(str(path.resolve()).encode() + source).hexdigest()[:12]}"
    if key in sys.modules:
        return sys.modules[key]
    module = ModuleType(key)
    module.__file__ = file = str(path.resolve())
    sys.modules[key] = module  # dataclasses and pickle look the module up while it is made
    try:
        with _importable(path.resolve().parent), _foreign(f"'{spec}' cannot be imported"):
            linecache.checkcache(file)
            # Compiled here, not by an import: no stale or new bytecode file, and the digest is of what ran.
            exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
    except BindingError:
        sys.modules.pop(key, None)
        raise
    return module


def _nearest_file(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"its folder '{folder}' does not exist either"
    names = [entry.name for entry in folder.iterdir() if entry.suffix == ".py"]
    return nearest(path.name, names) if names else f"'{folder}' holds no .py file"


def _from_package(name: str, spec: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise BindingError(f"'{name}' is no module name; {_FORM}")
    with _importable(Path.cwd()):
        try:
            with _foreign(f"'{spec}' cannot be imported", ModuleNotFoundError):
                return importlib.import_module(name)
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if name != missing and not name.startswith(missing + "."):
                raise BindingError(f"'{spec}' cannot be imported: it needs the module '{missing}'") from error
            raise BindingError(f"there is no module '{missing}'; {_nearest_module(missing)}") from None


def _nearest_module(missing: str) -> str:
    parent, _, last = missing.rpartition(".")
    path = getattr(sys.modules.get(parent), "__path__", None) if parent else None
    names = [module.name for module in pkgutil.iter_modules(path)] if path or not parent else []
    hint = nearest(last, names) if names else ""
    return hint if hint.startswith("did you mean") or (hint and parent) else _FORM


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    entry = str(folder)
    was_there = entry in sys.path
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        if entry in sys.path:
            sys.path.remove(entry)
        if not was_there:
            sys.path.append(entry)


@contextmanager
def _foreign(what: str, passed: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Turn what foreign code raises while it is imported into a BindingError; Ctrl-C passes."""
    try:
        yield
    except passed:
        raise
    except (Exception, SystemExit) as error:
        raise BindingError(f"{what}: {describe(error)}") from error


def _described(function: Callable[..., Any], spec: str, module_file: str | None) -> Loaded:
    plain = inspect.unwrap(function)
    if not hasattr(plain, "__code__"):  # an object: its class defines the call
        plain = vars(type(plain)).get("__call__", plain)
    code = getattr(plain, "__code__", None)
    if code is not None and os.path.isfile(code.co_filename):
        return Loaded(function, spec, code.co_filename, code.co_firstlineno, _sha256(code.co_filename))
    # A partial, say: compiled code does the call, and the module that was named says what it is.
    if module_file is not None and module_file.endswith(".py") and os.path.isfile(module_file):
        return Loaded(function, spec, module_file, 0, _sha256(module_file))
    return Loaded(function, spec, None, 0, "")


def _sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
