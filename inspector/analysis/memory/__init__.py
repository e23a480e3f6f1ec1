"""The memory that a graph holds line by line, who holds it, and what is saved for the backward.

May not know the bytes that kernels move: that is `cost`.
"""
