"""Tries a setting for two operations: compiles their graph again with it, and compares."""

from collections.abc import Sequence

from inspect_compile.analysis.compare.what_if import Tried, tried
from inspect_compile.analysis.lookup.pairs import Pair
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Operation
from inspect_compile.launch.replay import replayed


def try_knob(
    dump: Dump, graph: str, ops_a: Sequence[str], ops_b: Sequence[str], knob: str, value: object, *, target: str = ""
) -> Tried:
    """Compile `graph` of `dump` again with the setting `knob`, and return what became of the two sets of operations.

    It runs code from the dump, like `replay`, and is kept as a replay. `target` is a GPU other than the one that the
    graph was compiled for. If it cannot be compiled, `failure` says why.
    """
    outer = graph.partition("/")[0]
    wanted = {*ops_a, *ops_b}
    of = next((row.graph for row in dump.rows(Operation, outer) if not wanted.isdisjoint(row.members)), graph)
    pair = Pair(of, tuple(ops_a), tuple(ops_b))
    found = dump.graph(outer)
    nothing = Tried(graph=of, knob=knob, value=repr(value), a=pair.a, b=pair.b)
    if found is None:
        return _failed(nothing, f"{graph}: no such graph in {dump.root}")
    try:
        done = replayed(dump, found, target=target or None, config={knob: value})
    except CommandError as error:
        return _failed(nothing, str(error))
    if done.failure:
        return _failed(nothing, done.failure)
    return tried(dump, Dump(done.part), pair, knob, value, done.number)


def _failed(nothing: Tried, failure: str) -> Tried:
    return Tried(graph=nothing.graph, knob=nothing.knob, value=nothing.value, a=nothing.a, b=nothing.b, failure=failure)
