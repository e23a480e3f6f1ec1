"""The rows of the table of FLOPs: the tree of a graph's modules, with the operators in each."""

from collections.abc import Iterator

import msgspec

from inspect_compile.analysis.cost.flops import GraphFlops, Module


class FlopRow(msgspec.Struct, frozen=True, tag_field="fact", tag="flop_row"):
    """One module, or one operator in a module. The rows of a module's operators follow its own, then its submodules.

    The `own` of all operators add up to `total`.
    """

    graph: str
    """The outermost graph."""
    depth: int
    """Number of rows of modules around this module; an operator has the depth of its module."""
    module: str
    """Path of the nn.Module; empty at the top."""
    name: str
    """Of a module the part of its path behind the module around it, `Global` at the top; else `aten.convolution`."""
    is_operator: bool
    type: str
    """Class of the module; empty for an operator."""
    flops: int
    """FLOPs of the module, or of the operator in it, submodules included."""
    own: int
    """The part of `flops` outside of submodules."""
    count: int
    """Number of FX nodes that compute, outside of submodules."""
    share: float
    """`flops` as a share of `total`, between 0 and 1; 0 if the graph has none."""
    total: int
    """FLOPs of the graph."""


def flop_rows(found: GraphFlops) -> list[FlopRow]:
    """The tree of one graph, top down."""
    own: dict[str, dict[str, tuple[int, int]]] = {}
    for row in found.operators:
        here = own.setdefault(row.module, {})
        flops, count = here.get(row.operator, (0, 0))
        here[row.operator] = flops + row.flops, count + row.count
    return list(_rows(found.root, 0, found, own))


def _rows(
    module: Module, depth: int, found: GraphFlops, own: dict[str, dict[str, tuple[int, int]]]
) -> Iterator[FlopRow]:
    name = module.name
    while len(module.children) == 1 and module.path and module.operators == module.children[0].operators:
        module = module.children[0]  # a container with a single module in it: one row for both
        name = f"{name}.{module.name}"
    here, total = own.get(module.path, {}), found.total
    flops, count = sum(one for one, _ in here.values()), sum(nodes for _, nodes in here.values())
    lines = [(name, False, module.type, module.flops, flops, count)]
    lines += [(name, True, "", flops, *here.get(name, (0, 0))) for name, flops in module.operators.items()]
    for line in lines:
        share = line[3] / total if total else 0.0
        yield FlopRow(found.graph, depth, module.path, *line, share, total)
    for child in module.children:
        yield from _rows(child, depth + 1, found, own)
