"""What the fixture and real verdict tables show of the `panel` audit; `make results` writes `docs/results/panel.md`."""
