"""Findings on what comes before a graph: breaks, recompiles, cache look-ups, compile times, failed compiles.

They read facts, and may not know of each other's, nor of any view.
"""
