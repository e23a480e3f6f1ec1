"""Attention that is computed in several kernels where a fused one could do it.

`calls` finds it in Dynamo's graphs, `composed` says what became of it and why. They may not know of other findings.
"""
