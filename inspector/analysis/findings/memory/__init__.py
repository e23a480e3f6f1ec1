"""Findings on memory that a program writes into. They may not know of other findings."""
