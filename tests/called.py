"""What the generated wrapper calls, read from output_code.py by Python's own parser, without our tables."""

import ast
import re
from collections.abc import Iterator

from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from tests.witness.output_code import dotted

_NO_KERNEL = re.compile(
    r"""
    assert_\w+ | RuntimeError | max | min | int                  # checks, sizes, which branch
    | \w+\.(?:size|stride|item|clear)                            # what a tensor says of itself, one number, a list
    | empty_strided\w* | reinterpret_tensor | alloc_from_pool    # memory
    | copy_if_misaligned                                         # copies what hardly ever is
    | get_raw_stream | torch\.\w+\.(?:set_device|_DeviceGuard)
    | \w+_graph_\d+ | self\.partitions                           # other functions of the same file
    | (?:while_loop|scan)\w*(?:\[\d+\])?\.append | buf\d+\.clone   # what a loop carries
    """,
    re.VERBOSE,
)
_NOT_RUN = ("benchmark_compiled_module", "get_args", "recursively_apply_fns", "__init__")


def called(code: str) -> Iterator[tuple[range, str]]:
    """The lines of each statement of the functions that run, and what it calls."""
    for function in ast.walk(ast.parse(code)):
        if isinstance(function, ast.FunctionDef) and function.name not in _NOT_RUN:
            for statement in ast.walk(function):
                if isinstance(statement, (ast.Expr, ast.Assign, ast.Raise, ast.Return)):
                    span = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
                    yield from ((span, dotted(c.func)) for c in ast.walk(statement) if isinstance(c, ast.Call))


def unseen_calls(dump: Dump) -> list[str]:
    """Calls in the code of a dump's graphs that are neither launches nor free of work."""
    found = []
    for graph in dump.outermost():
        lines = {launch.line for launch in CompiledGraph(dump, graph.graph).launches}
        calls = called(dump.text(graph.graph, "output_code.py") or "")
        found += [name for span, name in calls if not lines.intersection(span) and not is_free_of_work(name)]
    return found


def is_free_of_work(name: str) -> bool:
    """Does a function of that name run nothing on the elements of a tensor?"""
    return _NO_KERNEL.fullmatch(name) is not None
