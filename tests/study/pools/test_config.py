import pytest

from counterproof.core.errors import InputError
from counterproof.study.pools.config import AgentConfig


def test_every_bad_rate_is_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        AgentConfig(accuracy=1.5, fake_citation=-0.1, exact_repeat=0.7, near_repeat=0.7, searches=(1.0, 2.0))
    assert {problem.where for problem in caught.value.problems} == {
        "accuracy",
        "fake_citation",
        "searches",
        "exact_repeat + near_repeat",
    }


@pytest.mark.parametrize("weights", [(0.0,) * 5, (1.0, -1.0, 1.0, 1.0, 1.0), (float("nan"),) * 5, (float("inf"),) * 5])
def test_weights_must_be_numbers_from_zero_with_a_positive_sum(weights: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="searches"):
        AgentConfig(searches=weights)


def test_nan_is_no_rate() -> None:
    with pytest.raises(InputError, match="abstain"):
        AgentConfig(abstain=float("nan"))
