"""The terminal app over a dump."""
