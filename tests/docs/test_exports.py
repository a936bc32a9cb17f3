"""Each room's `__init__` is its short public list: every name in it resolves, is documented and is listed once."""

import importlib
import inspect
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "counterproof"
ROOMS = ["counterproof", *sorted(f"counterproof.{path.parent.name}" for path in PACKAGE.glob("*/__init__.py"))]
ROOT_LIMIT = 25


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_resolve_once(room: str) -> None:
    module = importlib.import_module(room)
    names = list(module.__all__)
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(module, name)] == []


@pytest.mark.parametrize("room", ROOMS)
def test_public_functions_and_classes_are_documented(room: str) -> None:
    module = importlib.import_module(room)
    bare = []
    for name in module.__all__:
        value = getattr(module, name)
        # A dataclass without a docstring gets its signature as one.
        if (inspect.isclass(value) or inspect.isfunction(value)) and (
            not value.__doc__ or value.__doc__.startswith(f"{name}(")
        ):
            bare.append(name)
    assert bare == []


@pytest.mark.parametrize("room", ROOMS)
def test_room_says_in_one_sentence_what_it_is(room: str) -> None:
    assert importlib.import_module(room).__doc__


def test_root_exports_few_names() -> None:
    assert len(importlib.import_module("counterproof").__all__) <= ROOT_LIMIT
