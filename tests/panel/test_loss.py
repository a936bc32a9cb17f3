import pytest

from counterproof.core.errors import InputError
from counterproof.panel.loss import Loss, parse_loss


@pytest.mark.parametrize("loss", [Loss("ba"), Loss("chow", 0.1), Loss("chow", 0.25)])
def test_text_and_back(loss: Loss) -> None:
    assert parse_loss(loss.text) == loss


@pytest.mark.parametrize(
    "text", ["", "BA", "chow", "chow:", "chow:0", "chow:1", "chow:-1", "chow:x", "chow:nan", "ba:1"]
)
def test_what_names_no_loss_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="write ba, or chow:KAPPA"):
        parse_loss(text)
