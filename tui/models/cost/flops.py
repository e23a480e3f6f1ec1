"""FLOPs by modules of the program, with the operators that ran in each."""

from collections.abc import Iterable
from typing import Final

from inspect_compile.analysis.cost.flop_rows import FlopRow, flop_rows
from inspect_compile.analysis.cost.flops import graph_flops, modules_around, operator
from inspect_compile.dump import Dump
from inspect_compile.tables.columns import cell
from inspect_compile.tables.cost.flops import APP_COLUMNS, UNCOUNTED, app_share
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.cost.bars import with_bar
from inspect_compile.tui.models.sheet import Row, Subject, Table

_COLUMNS: Final = with_bar(APP_COLUMNS, app_share, lambda row: "bar" if row.is_operator else "bar-module")


def flops(dump: Dump, chain: Chain) -> Table:
    """The tree of the chain's graph; then what has no count, and what computes nothing."""
    found = graph_flops(dump, chain.graph)
    members = _Members(chain)
    rows = [row for row in flop_rows(found) if row.count or not row.is_operator]
    after: list[Row] = []
    for title, counts in (
        *((f"not counted: {UNCOUNTED.get(why, why)}", counts) for why, counts in found.uncounted.items()),
        ("computes nothing", found.free),
    ):
        if counts:
            after.append(Row(f"title {title}", (cell(title, "title"),), heading=True))
            for name, count in counts.items():
                cells = (cell(f"  {name}", "dim"), cell(f"{count}×", "dim"), (), ())
                after.append(Row(f"{title} {name}", cells, members.of_operator_anywhere(name)))
    keys = [f"{row.module} {row.name}" if row.is_operator else f"module {row.module}" for row in rows]
    return Table.of(_COLUMNS, rows, keys, [members.of(row) for row in rows], after)


class _Members:
    """The nodes of a module including submodules, and of one operator in one module."""

    def __init__(self, chain: Chain) -> None:
        self._modules: dict[str, list[str]] = {}
        self._operators: dict[tuple[str, str], list[str]] = {}
        for node in chain.nodes:
            if node.op != "call_function":
                continue
            key, path = chain.key(node.graph, node.name), node.module
            self._operators.setdefault((path, operator(node.target)), []).append(key)
            for module in ("", *modules_around(path)):
                self._modules.setdefault(module, []).append(key)

    def of(self, row: FlopRow) -> Subject | None:
        """What a row of the tree stands for."""
        path = row.module
        if not row.is_operator:
            return _subject(self._modules.get(path, ()), path or "the whole graph", is_sum=True)
        return _subject(self._operators.get((path, row.name), ()), f"{row.name} in {path}" if path else row.name)

    def of_operator_anywhere(self, name: str) -> Subject | None:
        return _subject([key for (_, found), keys in self._operators.items() if found == name for key in keys], name)


def _subject(names: Iterable[str], label: str, *, is_sum: bool = False) -> Subject | None:
    found = tuple(names)
    return Subject("node", found, label, is_sum=is_sum) if found else None
