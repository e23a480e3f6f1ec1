"""Run with `python -m package`."""
