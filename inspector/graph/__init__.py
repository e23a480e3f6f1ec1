"""One compiled graph: the only joins of the facts about it, each made once, and the identity of what has a name in it.

May not know torch, nor what the analyses conclude.
"""

from inspect_compile.facts.nesting import enclosing, nested_path, outermost, own_name
from inspect_compile.graph.compiled import CompiledGraph, Graphs
from inspect_compile.graph.ids import Id
from inspect_compile.graph.names import (
    ProgramLine,
    ShortNames,
    any_number,
    aot_prefix,
    few,
    file_name,
    operations_in,
    script_name,
    short,
    unless_script,
)
from inspect_compile.graph.once import Once
from inspect_compile.graph.rows import gathered, grouped, hints_of, matched_inputs, shared_fields

__all__ = [
    "CompiledGraph", "Graphs", "Id", "Once", "ProgramLine", "ShortNames", "any_number", "aot_prefix", "enclosing",
    "few", "file_name", "gathered", "grouped", "hints_of", "matched_inputs", "nested_path", "operations_in",
    "outermost", "own_name", "script_name", "shared_fields", "short", "unless_script",
]  # fmt: skip
