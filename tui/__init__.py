"""The terminal app for a dump."""
