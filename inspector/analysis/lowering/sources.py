"""The buffers from which the code of an FX node is computed: values that have none are computed inline."""

from inspect_compile.facts import Lowering, Realize
from inspect_compile.graph import CompiledGraph


class Sources:
    """The nodes of one graph."""

    def __init__(self, graph: CompiledGraph) -> None:
        self._nodes = {row.name: row for row in graph.nodes if row.graph == graph.name}
        self._own: dict[str, set[str]] = {}
        for made in graph.rows(Lowering):
            if made.graph == graph.name:
                self._own.setdefault(made.node, set()).update(made.buffers)
        for ask in graph.rows(Realize):
            if ask.graph == graph.name and ask.realized and ask.origin is not None and ask.buffer is not None:
                self._own.setdefault(ask.origin, set()).add(ask.buffer)
        self._known: dict[str, frozenset[str]] = {}

    def of(self, name: str) -> frozenset[str]:
        """Its own buffers, and those of its inputs, or of what they are computed from; empty if it needs none."""
        if name not in self._known:
            found = set(self._own.get(name, ()))
            waiting, seen = [name], {name}
            while waiting:
                node = self._nodes.get(waiting.pop())
                for source in () if node is None else node.inputs:
                    if source in seen:
                        continue
                    seen.add(source)
                    given = self._nodes.get(source)
                    if given is None or given.op in ("placeholder", "get_attr"):
                        found |= {source} if given is None else {source, given.target}
                    if buffers := self._own.get(source):
                        found |= buffers
                    else:
                        waiting.append(source)
            self._known[name] = frozenset(found)
        return self._known[name]
