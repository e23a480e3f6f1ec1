"""The wrapper's memory, replayed line by line: allocations, reuses, pools and frees.

May not know the bytes that kernels move: that is `cost`.
"""
