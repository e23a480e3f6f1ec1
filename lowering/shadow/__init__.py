"""Compiles a graph for a GPU that is not here."""
