"""The attempts to fuse what a person names."""

from inspect_compile.analysis.dumps.operation_names import operations_in
from inspect_compile.analysis.fusion.ledger import Candidate, candidates
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, Operation


def attempts_at(dump: Dump, graph: str, names: tuple[str, ...]) -> list[Candidate]:
    """The fusion attempts between the operations that `names` stand for, those fused into the same scheduler node
    included.

    A node, buffer, kernel or source line stands for the operations that compute it. With two names, each attempt has
    one of them on each side.
    """
    meant = [_operations_of(dump, graph, name) for name in names]
    return [row for row in candidates(dump, graph) if _is_between(row, meant)]


def _is_between(row: Candidate, meant: list[set[str]]) -> bool:
    a, b = set(operations_in(row.a)) or {row.a}, set(operations_in(row.b)) or {row.b}
    if len(meant) == 2:
        return bool((meant[0] & a and meant[1] & b) or (meant[0] & b and meant[1] & a))
    return all(found & (a | b) for found in meant)


def _operations_of(dump: Dump, graph: str, name: str) -> set[str]:
    rows = dump.rows(Operation, graph)
    found = {member for row in rows if matches(row, (name,)) and _makes(row, name) for member in row.members}
    found |= {member for row in dump.rows(Kernel, graph) if matches(row, (name,)) for member in row.operations}
    if operations := operations_in(name):
        found = set(operations)
    together = [set(row.members) for row in rows if row.phase == "post_fusion"]
    return found.union(*(members for members in together if members & found)) or {name}


def _makes(row: Operation, name: str) -> bool:
    """True if the operation computes `name`; buffers that it only reads do not count."""
    return name in row.nodes or name in row.buffers or name in row.members
