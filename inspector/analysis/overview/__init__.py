"""A run, a graph or a node in a few numbers, put together from all other rooms.

May not know a second compile; only `compare` may use it.
"""
