"""Buffers that no FX node has the value of, computed again from the loops that torch lowered a node to.

May not know how a result is judged, nor the generated code.
"""
