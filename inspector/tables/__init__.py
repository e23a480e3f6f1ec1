"""Facts to rich tables and texts."""
