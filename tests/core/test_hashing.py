"""Canonical JSON by hand; digests from the written-out text."""

from __future__ import annotations

import enum
import hashlib
import pathlib
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pytest

from counterproof.core.hashing import canonical, digest, digest_bytes


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    BIG = 3


@dataclass(frozen=True)
class Inner:
    name: str
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class Outer:
    inner: Inner
    tags: frozenset[str] = field(default_factory=frozenset)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (np.float64(0.5), "0.5"),
        (2**70, "1180591620717411303424"),
        ("é\n", '"é\\n"'),
        ((1, [2, (3,)]), "[1,[2,[3]]]"),
        ({"b": 1, "a": {"d": None, "c": ""}}, '{"a":{"c":"","d":null},"b":1}'),
        (MappingProxyType({"a": 1}), '{"a":1}'),
        ({"b", "a", "c"}, '["a","b","c"]'),
        (frozenset({(2, "x"), (1, "y")}), '[[1,"y"],[2,"x"]]'),
        (b"\x00\xff", '{"bytes":"00ff"}'),
        (Colour.RED, '"red"'),
        (Size.BIG, "3"),
        (
            Outer(Inner("n", (1.5,)), frozenset({"z", "a"})),
            '{"inner":{"name":"n","type":"Inner","values":[1.5]},"tags":["a","z"],"type":"Outer"}',
        ),
    ],
)
def test_canonical_text_by_hand(value: object, text: str) -> None:
    assert canonical(value) == text.encode()


def test_digest_is_sha256_of_the_canonical_text() -> None:
    value = {"b": "é", "a": (1, 2.5, None, True)}
    assert digest(value) == hashlib.sha256('{"a":[1,2.5,null,true],"b":"é"}'.encode()).hexdigest()
    # The same by another program (sha256sum).
    assert digest(value) == "2d13915cea65e5c86a2097e51aa092fb3f5a29e3b40d276704fc891f0f063399"


def test_digest_of_bytes() -> None:
    # FIPS 180-4, example for "abc".
    assert digest_bytes(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_key_order_and_the_kind_of_sequence_do_not_matter() -> None:
    assert digest({"x": 1, "y": [1, 2]}) == digest({"y": (1, 2), "x": 1})


def test_dataclasses_of_different_names_differ() -> None:
    @dataclass
    class Other:
        name: str
        values: tuple[float, ...] = ()

    assert digest(Inner("a")) != digest(Other("a"))


def test_a_number_differs_from_its_text_and_from_its_kin() -> None:
    assert len({digest(value) for value in (1, 1.0, True, "1")}) == 4


def test_a_lone_surrogate_has_a_canonical_form() -> None:
    assert canonical("\ud800") == b'"\xed\xa0\x80"'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [-float("inf")]}, Inner("x", (float("nan"),))])
def test_nan_and_infinity_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="no canonical form"):
        canonical(value)


@pytest.mark.parametrize("value", [pathlib.PurePath("a"), len, object(), Inner, np.int64(1), {"a": [1j]}])
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="no canonical form"):
        canonical(value)


@pytest.mark.parametrize("key", [1, None, ("a",), b"a"])
def test_keys_that_are_no_text_are_refused(key: object) -> None:
    with pytest.raises(TypeError, match="keys must be text"):
        canonical({key: 1})


def test_a_field_that_would_hide_the_name_of_its_class_is_refused() -> None:
    @dataclass
    class Sneaky:
        type: str

    with pytest.raises(TypeError, match="'type'"):
        canonical(Sneaky("Inner"))
