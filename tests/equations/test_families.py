"""The six laws and which terms of the default library they use."""

import pytest

from counterproof.core.errors import InputError
from counterproof.equations.families import FAMILIES, family_index
from counterproof.equations.library import DEFAULT_LIBRARY, EXTENDED_LIBRARY


@pytest.mark.parametrize(
    ("name", "support"),
    [
        ("advection-diffusion", {"u_x", "u_xx"}),
        ("Burgers", {"u_xx", "u u_x"}),
        ("Fisher-KPP", {"u", "u^2", "u_xx"}),
        ("Allen-Cahn", {"u", "u^3", "u_xx"}),
        ("KdV", {"u_xxx", "u u_x"}),
    ],
)
def test_true_support_in_the_default_library(name: str, support: set[str]) -> None:
    columns = DEFAULT_LIBRARY.law_support(FAMILIES[family_index(name)].terms)
    assert columns is not None
    assert {DEFAULT_LIBRARY.names[j] for j in columns} == support


def test_hyperdiffusion_lies_outside_the_default_library_and_inside_the_extended_one() -> None:
    law = FAMILIES[family_index("hyperdiffusion")].terms
    assert DEFAULT_LIBRARY.law_support(law) is None
    assert EXTENDED_LIBRARY.law_support(law) == (EXTENDED_LIBRARY.names.index("u_xxxx"),)


def test_two_laws_are_linear() -> None:
    assert [family.name for family in FAMILIES if family.is_linear] == ["advection-diffusion", "hyperdiffusion"]


def test_unknown_family_names_the_nearest() -> None:
    with pytest.raises(InputError, match="Burgers"):
        family_index("Burger")
