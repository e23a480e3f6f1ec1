"""Probes of what the forward keeps for the backward, and of the cut that decides it.

May not know IR: the graph is cut before it is lowered.
"""
