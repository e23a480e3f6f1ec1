"""FLOPs of a graph as a tree of the program's modules, with the operators that ran in each.

docs/flops.md has the conventions.
"""

from collections import Counter

import msgspec

from inspect_compile.facts import Graph, Lowering
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.knowledge.cost.flops import HELD_IN_GRAPHS, LAUNCHES_OF_OWN_KERNELS

COMPUTING = frozenset({"matmul", "convolution", "attention", "pointwise", "reduction"})
"""The kinds that are counted; torch's own counter counts those in `HEAVY`."""
HEAVY = frozenset({"matmul", "convolution", "attention"})

_DEEPEST = 64
"""Maximum nesting depth of modules; the rest of a longer path counts as one name."""


class OperatorFlops(msgspec.Struct, frozen=True):
    """One operator in one module of one graph."""

    graph: str
    module: str
    """Path of the nn.Module; empty at the top."""
    operator: str
    """The overload packet: `aten.convolution`."""
    kind: str
    count: int
    """Number of nodes."""
    flops: int


class Module(msgspec.Struct):
    """One module of the tree, with what ran in it and in its submodules."""

    name: str
    """Last part of its path; `Global` at the root."""
    path: str
    type: str
    flops: int
    operators: dict[str, int]
    """Operator → FLOPs in this module and its submodules, in order; operators that compute nothing are left out."""
    children: list["Module"]


class GraphFlops(msgspec.Struct, frozen=True):
    """The FLOPs of one graph, nested graphs included (each branch of a conditional counts, though only one runs)."""

    graph: str
    total: int
    kinds: dict[str, int]
    """Kind → FLOPs, for the kinds in `COMPUTING` that occur, most FLOPs first."""
    operators: list[OperatorFlops]
    root: Module
    uncounted: dict[str, dict[str, int]]
    """`own`, `other`, `unknown` or `inner` → operator → number of nodes without a count for that reason."""
    free: dict[str, int]
    """Operator → number of nodes that compute nothing: views, copies, creation, indexing."""
    sizes: dict[str, int] = {}
    """Operator → number of nodes that compute a number on the host, such as a size, and no tensor."""


def operator(target: str) -> str:
    """`aten.convolution` for `aten.convolution.default`."""
    parts = target.split(".")
    return ".".join(parts[:2]) if len(parts) > 2 else target


def graph_flops(graph: CompiledGraph) -> GraphFlops:
    """The FLOPs of `graph`. Lowerings for benchmarking only (autotuning) are left out."""
    tried = {found.graph for found in graph.rows(Graph) if found.kind in ("autotune", "constants")}
    modules = {key: (node.module, node.module_type) for key, node in graph.node_of.items()}
    rows = [row for row in graph.rows(Lowering) if row.op == "call_function" and row.graph not in tried]
    total = sum(row.flops for row in rows)
    counts: dict[tuple[str, str, str, str], list[int]] = {}
    kinds: Counter[str] = Counter()
    uncounted: dict[str, dict[str, int]] = {}
    free: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    types: dict[str, str] = {}
    for row in rows:
        name, kind = operator(row.target), row.flops_kind
        if kind == "none":
            free[name] += name != "operator.getitem"
            continue
        if kind == "size":
            sizes[name] += 1
            continue
        if kind not in COMPUTING:
            if row.way != "getitem" and name not in HELD_IN_GRAPHS:
                inner = "unknown" if row.graph == graph.name else "inner"
                reason = "own" if name in LAUNCHES_OF_OWN_KERNELS else kind or inner
                reasons = uncounted.setdefault(reason, {})
                reasons[name] = reasons.get(name, 0) + 1
            continue
        path, module_type = modules.get(Id(row.graph, row.node), ("", ""))
        types.setdefault(path, module_type)
        found = counts.setdefault((row.graph, path, name, kind), [0, 0])
        found[0] += 1
        found[1] += row.flops
        kinds[kind] += row.flops
    operators = [
        OperatorFlops(of, path, name, kind, count, flops) for (of, path, name, kind), (count, flops) in counts.items()
    ]
    return GraphFlops(
        graph.name,
        total,
        dict(kinds.most_common()),
        operators,
        _tree(operators, types),
        uncounted,
        dict(+free),
        dict(sizes),
    )


def _tree(operators: list[OperatorFlops], types: dict[str, str]) -> Module:
    root = Module("Global", "", "", 0, {}, [])
    known = {"": root}
    for row in operators:
        for module in _chain(row.module, known, types):
            module.flops += row.flops
            module.operators[row.operator] = module.operators.get(row.operator, 0) + row.flops
    return root


def _chain(path: str, known: dict[str, Module], types: dict[str, str]) -> list[Module]:
    """The modules from the root down to `path`, created if they are new."""
    found = [known[""]]
    for here in modules_around(path):
        above = found[-1]
        if here not in known:
            name = here[len(above.path) + 1 :] if above.path else here
            known[here] = Module(name, here, types.get(here, ""), 0, {}, [])
            above.children.append(known[here])
        found.append(known[here])
    return found


def modules_around(path: str) -> list[str]:
    """The paths of the module at `path` and its parents, outermost first: `a`, `a.b`, `a.b.c`."""
    parts = path.split(".", _DEEPEST) if path else []
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
