"""The smallest rate that a null could have seen."""

from __future__ import annotations

import pytest

from counterproof.core.errors import InputError
from counterproof.stats import minimum_detectable_rate


def test_rate_is_seen_with_the_stated_power() -> None:
    for clusters in (1, 12, 200):
        rate = minimum_detectable_rate(clusters, power=0.8)
        assert 1 - (1 - rate) ** clusters == pytest.approx(0.8)


def test_one_cluster_detects_only_what_happens_with_the_power_itself() -> None:
    assert minimum_detectable_rate(1, power=0.8) == pytest.approx(0.8)
    assert minimum_detectable_rate(2, power=0.75) == pytest.approx(0.5)


@pytest.mark.parametrize(("clusters", "power"), [(0, 0.8), (5, 0.0), (5, 1.0)])
def test_arguments_out_of_range_are_refused(clusters: int, power: float) -> None:
    with pytest.raises(InputError):
        minimum_detectable_rate(clusters, power=power)
