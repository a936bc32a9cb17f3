"""Edits and detectors from outside: from a file or module named on the command line, and from entry points."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from counterproof.core.errors import BindingError, InputError
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
        BindingError: A module or file cannot be imported.
        InputError: It holds neither an edit nor a detector.
    """
    found: list[object] = []
    for group in ("counterproof.edits", "counterproof.detectors"):
        found += [point.load() for point in sorted(entry_points(group=group), key=lambda point: point.name)]
    for spec in specs:
        own = [value for value in vars(_imported(spec)).values() if isinstance(value, (Edit, Detector))]
        own = [value for value in own if value not in EDITS and value not in DETECTORS]
        if not own:
            raise InputError(f"{spec} holds neither an edit nor a detector; make one with @edit or @detector")
        found += own
    edits = tuple(one for one in found if isinstance(one, Edit))
    return Plugins(edits, tuple(one for one in found if isinstance(one, Detector)))


def _imported(spec: str) -> ModuleType:
    try:
        if not spec.endswith(".py"):
            return importlib.import_module(spec)
        path = Path(spec)
        if not path.is_file():
            raise BindingError(f"plug-in {spec}: no such file")
        found = importlib.util.spec_from_file_location(f"counterproof_plugin_{path.stem}", path)
        if found is None or found.loader is None:
            raise BindingError(f"plug-in {spec}: not a Python file")
        module = importlib.util.module_from_spec(found)
        sys.modules[found.name] = module
        found.loader.exec_module(module)
    except BindingError:
        raise
    except Exception as error:
        raise BindingError(f"plug-in {spec} cannot be imported: {type(error).__name__}: {error}") from error
    return module
