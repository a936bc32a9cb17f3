"""What the equation lab shows beside the published figures; `make results` writes `docs/results/equations.md`."""
