"""Findings that only a GPU has: registers, CUDA graphs, the units that compute, small kernels.

They may not know of other findings.
"""
