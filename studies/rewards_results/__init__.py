"""What real pools show of every claim about the `rewards` audit; `make results` writes `docs/results/rewards.md`."""
