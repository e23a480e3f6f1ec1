"""FLOPs by modules of the program, with the operators that ran in each."""

from collections.abc import Iterable
from typing import Final

from inspect_compile.analysis.cost.flops import GraphFlops, Module, graph_flops, modules_around, operator
from inspect_compile.dump import Dump
from inspect_compile.tables.columns import cell
from inspect_compile.tables.cost.flop_rows import UNCOUNTED
from inspect_compile.tables.text import multiple_text, share_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.sheet import Column, Row, Subject, Table

COLUMNS: Final = (
    Column("module and operator", stretch=True, least=16, most=70),
    Column("FLOP", right=True),
    Column("share", right=True),
    Column("", most=20, drop=1),
    Column("class", drop=2, most=30),
)
BAR: Final = 20
EIGHTHS: Final = " ▏▎▍▌▋▊▉"


def flops(dump: Dump, chain: Chain) -> Table:
    """The tree of the chain's graph; then what has no count, and what computes nothing."""
    found = graph_flops(dump, chain.graph)
    members = _Members(chain)
    rows: list[Row] = []
    _add(rows, found.root, found, members, "", "")
    for title, counts in (
        *((f"not counted: {UNCOUNTED.get(why, why)}", counts) for why, counts in found.uncounted.items()),
        ("computes nothing", found.free),
    ):
        if counts:
            rows.append(Row(f"title {title}", (cell(title, "title"),), heading=True))
            for name, count in counts.items():
                cells = (cell(f"  {name}", "dim"), cell(f"{count}×", "dim"), (), (), ())
                rows.append(Row(f"{title} {name}", cells, members.of_operator_anywhere(name)))
    return Table(COLUMNS, rows)


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

    def of_module(self, path: str) -> Subject | None:
        return _subject(self._modules.get(path, ()), path or "the whole graph", is_sum=True)

    def of_operator(self, path: str, name: str) -> Subject | None:
        return _subject(self._operators.get((path, name), ()), f"{name} in {path}" if path else name)

    def of_operator_anywhere(self, name: str) -> Subject | None:
        return _subject([key for (_, found), keys in self._operators.items() if found == name for key in keys], name)


def _subject(names: Iterable[str], label: str, *, is_sum: bool = False) -> Subject | None:
    found = tuple(names)
    return Subject("node", found, label, is_sum=is_sum) if found else None


def _add(rows: list[Row], module: Module, found: GraphFlops, members: _Members, before: str, branch: str) -> None:
    rows.append(_row(f"module {module.path}", before + branch, module, found.total, members))
    below = before + {"": "", "├ ": "│ ", "└ ": "  "}[branch]
    own: dict[str, int] = {}
    for row in found.operators:
        if row.module == module.path:
            own[row.operator] = own.get(row.operator, 0) + row.flops
    parts: list[tuple[str, int] | Module] = [*own.items(), *module.children]
    for index, part in enumerate(parts):
        guide = "└ " if index == len(parts) - 1 else "├ "
        if isinstance(part, Module):
            _add(rows, part, found, members, below, guide)
            continue
        name, count = part
        cells = (
            (*cell(below + guide, "dim"), *cell(name)),
            cell(multiple_text(count, ""), ""),
            cell(share_text(count / found.total) if found.total else "", "dim"),
            cell(bar(count / found.total if found.total else 0.0), "bar"),
            (),
        )
        rows.append(Row(f"{module.path} {name}", cells, members.of_operator(module.path, name)))


def _row(key: str, guide: str, module: Module, total: int, members: _Members) -> Row:
    return Row(
        key,
        (
            (*cell(guide, "dim"), *cell(module.name, "name")),
            cell(multiple_text(module.flops, ""), "name"),
            cell(share_text(module.flops / total) if total else "", "dim"),
            cell(bar(module.flops / total if total else 0.0), "bar-module"),
            cell(module.type, "dim"),
        ),
        members.of_module(module.path),
    )


def bar(share: float) -> str:
    """A bar for a share of the total."""
    eighths = round(BAR * 8 * share)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
