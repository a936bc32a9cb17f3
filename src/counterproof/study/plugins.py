"""Edits and detectors from outside: from a file or module named on the command line, and from entry points."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from counterproof.core.errors import BindingError, InputError, describe, nearest
from counterproof.rewards.detectors import DETECTORS, Detector
from counterproof.rewards.edits import EDITS, Edit


@dataclass(frozen=True, slots=True)
class Plugins:
    """What came from outside.

    Attributes:
        edits: Edits, in the order found.
        detectors: Detectors, in the order found.
    """

    edits: tuple[Edit, ...] = ()
    detectors: tuple[Detector, ...] = ()


def load_plugins(specs: Iterable[str]) -> Plugins:
    """Return the edits and detectors of installed entry points and of the modules or files named.

    Entry points are of the groups `counterproof.edits` and `counterproof.detectors`. A module or file contributes every
    `Edit` and `Detector` at its top level. They run in this process.

    Raises:
        BindingError: A module, file or entry point cannot be imported.
        InputError: It holds, or is, neither an edit nor a detector.
    """
    found: list[Edit | Detector] = []
    for group in ("counterproof.edits", "counterproof.detectors"):
        found += [_loaded(point) for point in sorted(entry_points(group=group), key=lambda point: point.name)]
    for spec in specs:
        own = [value for value in vars(_imported(spec)).values() if isinstance(value, (Edit, Detector))]
        own = [value for value in own if value not in EDITS and value not in DETECTORS]
        if not own:
            raise InputError(f"{spec} holds neither an edit nor a detector; make one with @edit or @detector")
        found += own
    edits = tuple(one for one in found if isinstance(one, Edit))
    return Plugins(edits, tuple(one for one in found if isinstance(one, Detector)))


def _loaded(point: EntryPoint) -> Edit | Detector:
    what = f"entry point {point.name} = {point.value} of {point.group}"
    with _foreign(what):
        value = point.load()
    if not isinstance(value, (Edit, Detector)):
        raise InputError(f"{what} is {type(value).__name__}; it must name an object made with @edit or @detector")
    return value


def _imported(spec: str) -> ModuleType:
    path = Path(spec)
    if not spec.endswith(".py"):
        with _importable(Path.cwd()), _foreign(f"plug-in {spec}"):
            return importlib.import_module(spec)
    if not path.is_file():
        near = [entry.name for entry in path.parent.glob("*.py")]
        raise BindingError(f"plug-in {spec}: no such file" + (f"; {nearest(path.name, near)}" if near else ""))
    found = importlib.util.spec_from_file_location(f"counterproof_plugin_{path.stem}", path)
    if found is None or found.loader is None:
        raise BindingError(f"plug-in {spec}: not a Python file")
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    with _importable(path.resolve().parent), _foreign(f"plug-in {spec}"):
        found.loader.exec_module(module)
    return module


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let a plug-in import what lies beside it, now and, after everything else, later."""
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        sys.path.remove(entry)
        if entry not in sys.path:
            sys.path.append(entry)


@contextmanager
def _foreign(what: str) -> Iterator[None]:
    """Turn what foreign code raises while it is imported into a BindingError; Ctrl-C passes."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise BindingError(f"{what} cannot be imported: {describe(error)}") from error
