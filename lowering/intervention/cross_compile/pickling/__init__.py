"""Graphs, tensors, kernels and operators as bytes for the process that compiles for a target.

May not know how they are compiled there.
"""
