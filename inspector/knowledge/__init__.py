"""Data with sources: what is known apart from any one compile."""
