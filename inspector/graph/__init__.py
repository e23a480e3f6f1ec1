"""One compiled graph: the only joins of the facts about it, each made once, and the identity of what has a name in it.

May not know torch, nor what the analyses conclude.
"""

from inspect_compile.graph.compiled import CompiledGraph, Graphs
from inspect_compile.graph.ids import Id
from inspect_compile.graph.once import Once

__all__ = ["CompiledGraph", "Graphs", "Id", "Once"]
