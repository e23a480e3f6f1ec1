"""Every view that a person can get of a dump: what each would put on a terminal, or into a file.

The lists of the package itself name the views, so that a new one is taken in here too.
"""

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from inspect_compile.analysis.compare.causes.records import Cause, Cost
from inspect_compile.analysis.compare.side_by_side import Side
from inspect_compile.analysis.cost.launch_origins import BY
from inspect_compile.analysis.kernels.stage_lines import STAGES as STAGES_OF_KERNELS
from inspect_compile.api import html
from inspect_compile.api.recording import Recording
from inspect_compile.commands import main
from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.diagrams.kinds.kind import STAGES as STAGES_OF_FX
from inspect_compile.diagrams.kinds.kind import Kind
from inspect_compile.dump import Dump, open_dump, paths
from inspect_compile.dump.files import text_inside
from inspect_compile.errors import CommandError
from inspect_compile.export.formats import FORMATS
from inspect_compile.facts import Frame, Kernel, Node, Operation
from inspect_compile.finish import ARTIFACTS, finish
from inspect_compile.graph import CompiledGraph
from inspect_compile.report import pictures
from inspect_compile.report.packing import unpacked
from inspect_compile.tables import TABLES
from inspect_compile.tables.columns import Span
from inspect_compile.tables.layout import fitted
from inspect_compile.tables.styled_text import StyledLine
from inspect_compile.tui.models import bars
from inspect_compile.tui.models.causes import cause_rows, side, story
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import NOTHING, Code
from inspect_compile.tui.models.command import command
from inspect_compile.tui.models.compare import comparison
from inspect_compile.tui.models.cost import PARTS
from inspect_compile.tui.models.fusion import MODES as FUSION_MODES
from inspect_compile.tui.models.fusion import fusion, misses
from inspect_compile.tui.models.fx import STAGES, fx
from inspect_compile.tui.models.kernels import kernel_source, kernels
from inspect_compile.tui.models.lowering import FORMS as IR_FORMS
from inspect_compile.tui.models.lowering import ir
from inspect_compile.tui.models.numerics import numerics
from inspect_compile.tui.models.outline import Outline, Place, outline
from inspect_compile.tui.models.run import pages
from inspect_compile.tui.models.run.overview import OverviewPage
from inspect_compile.tui.models.sheet import Sheet, Shown, Table
from inspect_compile.tui.models.source import source
from inspect_compile.tui.models.stages import staged
from inspect_compile.tui.models.state import graph_state
from inspect_compile.tui.models.wrapper import WRITTEN, output, output_file
from inspect_compile.tui.views.program import recorded_output
from inspect_compile.tui.widgets.page import content_of
from tests.profiles.recordings import GIVEN, trace_of

TOLD: Final = ("is a link out of the dump", "the rest is left out")
"""Why a derived file may be missing, or not tell all."""

_TRACE: Final = str(trace_of(GIVEN))
"""A profile that is no stranger's."""

FEW: Final = 12
"""Graphs, rows of a list and kernels that are looked at one by one."""


@dataclass(frozen=True)
class Said:
    """What a command did."""

    status: int
    out: bytes
    err: str


def said(*words: str | Path) -> Said:
    """`inspect-compile WORDS…`, in this process, its output in a pipe."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = io.StringIO()
    with pytest.MonkeyPatch.context() as patched, contextlib.redirect_stderr(err):
        patched.setattr(sys, "stdout", out)
        status = main([str(word) for word in words])
    assert isinstance(out.buffer, io.BytesIO)
    return Said(status, out.buffer.getvalue(), err.getvalue())


View = Callable[[Path], Iterator[str]]
"""Looks at the dump in a directory: texts as a person gets them."""


def _command(*words: str) -> View:
    """A command; `DUMP` among its words is the dump."""

    def view(root: Path) -> Iterator[str]:
        found = said(*(str(root) if word == "DUMP" else word for word in words))
        if found.status:
            lines = found.err.splitlines()
            assert lines[-1].startswith("inspect-compile: "), found.err
            assert words[0] == "draw" or len(lines) == 1, found.err
        yield found.out.decode()
        yield found.err

    return view


def _names(root: Path) -> Iterator[str]:
    """Names of each form; a name that means nothing is told in a line, or in the table with what it was read as."""
    for name in (
        "triton_",
        "triton__0d1c",
        "kernel",
        "nvjet_sm90",
        "output_code.py:3",
        "op0:1",
        "0" * 64,
        "call(args)",
    ):
        for options in ((), ("--json",)):
            found = said("name", root, *options, name)
            assert len(found.err.splitlines()) <= 1, found.err
            yield found.out.decode()
            yield found.err


def _nodes(root: Path) -> Iterator[str]:
    """The pages of some nodes, buffers and operations."""
    dump = open_dump(root)
    for graph in dump.outermost()[:FEW]:
        names = [row.name for row in dump.rows(Node, graph.graph)[:2]]
        names += [name for row in dump.rows(Operation, graph.graph)[:1] for name in (row.name, *row.buffers[:1])]
        for name in names:
            yield from _command("show", "DUMP", "node", "--graph", graph.graph, "--", name)(root)


def _kernel_pages(root: Path) -> Iterator[str]:
    """The pages of some kernels."""
    dump = open_dump(root)
    for name in dict.fromkeys(row.name for row in dump.rows(Kernel) if row.kind != "extern" and row.name):
        yield from _command("show", "DUMP", "kernel", "--", name)(root)
        yield from _command("show", "DUMP", "kernel", "--json", "--", name)(root)
        yield from _command("show", "DUMP", "kernel", "--stage", "ptx", "--", name)(root)
        yield from _command("show", "DUMP", "kernel", "--stage", "all", "--", name)(root)
        yield from _command("show", "DUMP", "kernel", "--stage", "ptx", "--line", "1", "--", name)(root)
        if not name.startswith("-"):
            yield from _command("diff", "DUMP", "DUMP", "--stage", "source", name)(root)
            yield from _command("diff", "DUMP", "DUMP", "--stage", "ptx", name)(root)
        break


def _finish(root: Path) -> Iterator[str]:
    dump = open_dump(root)
    with contextlib.suppress(OSError):  # a file stands where a folder should be: it cannot be written
        finish(dump)
        failures = text_inside(root, root / paths.FINISHED) or ""
        yield failures
        assert all(failure.endswith(TOLD) for failure in failures.splitlines()), failures
    for graph in dump.outermost()[:FEW]:
        for name in ARTIFACTS:
            text = dump.text(graph.graph, name)
            if text is not None:
                yield text


def _drawn(text: str) -> Iterator[str]:
    """What `draw` said, and the DOT files that it names."""
    yield text
    for line in text.splitlines():
        if line.endswith(".dot"):
            yield Path(line).read_text()


def _draw(*options: str, kind: str = "schedule", name: str = "") -> View:
    def view(root: Path) -> Iterator[str]:
        words = (kind, name) if name else (kind,)
        whole = (*words, "--graph", "all", "--format", "dot", "-o", f"{root}-drawn/", *options)
        out, err = _command("draw", "DUMP", *whole)(root)
        yield from (err, *_drawn(out))

    return view


def _draw_kind(kind: Kind) -> View:
    """Pictures of one kind, of the first things that have a name."""

    def view(root: Path) -> Iterator[str]:
        dump = open_dump(root)
        names = {
            "": [""],
            "KERNEL": [row.name for row in dump.rows(Kernel) if row.kind != "extern"][:2],
            "NODE": ["op0", *(row.name for row in dump.rows(Node)[:1])],
        }[kind.named]
        for name in dict.fromkeys(names):
            if not name.startswith("-") and (name or not kind.named):
                yield from _draw(kind=kind.name, name=name)(root)
        if "fold" in kind.options and not kind.named:
            yield from _draw("--unfold", kind=kind.name)(root)
            yield from _draw("--fold", kind=kind.name)(root)
        if "stage" in kind.options:
            for stage in STAGES_OF_FX:
                yield from _draw("--stage", stage, "--all", kind=kind.name)(root)

    return view


def _report(root: Path) -> Iterator[str]:
    """The page, without what Graphviz draws: its time is no part of what is watched."""

    def undrawn(*_: object) -> str:
        raise CommandError("not drawn here")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pictures, "svg", undrawn)
        yield from _command("report", "DUMP", "-o", f"{root}-page.html")(root)
    page = Path(f"{root}-page.html")
    if page.exists():
        yield unpacked(page.read_text(encoding="utf-8"))


def _notebook(root: Path) -> Iterator[str]:
    """What a notebook shows, likewise."""

    def undrawn(*_: object) -> str:
        raise CommandError("not drawn here")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(html, "svg", undrawn)
        yield Recording(root)._repr_html_()


def _export(form: str) -> View:
    def view(root: Path) -> Iterator[str]:
        file = Path(f"{root}-exported.{form}")
        yield from _command("export", "DUMP", "--format", form, "-o", str(file))(root)
        if file.exists():
            yield file.read_text(encoding="utf-8")
            file.unlink()

    return view


def _sheet(sheet: Sheet) -> Iterator[str]:
    """What a list draws of the first rows and of the last."""
    if isinstance(sheet, Code):
        sheet.colour()
    for width in (20, 200):
        yield _text(sheet.titles(width))
        for index in (*range(min(FEW, len(sheet))), *range(max(0, len(sheet) - FEW), len(sheet))):
            assert isinstance(sheet.key(index) + sheet.plain(index), str)
            yield _text([*sheet.fixed(index), *sheet.spans(index, width)])
    if isinstance(sheet, Code):
        sheet.colour()
        yield from (_text(sheet.spans(index, 80)) for index in range(min(FEW, len(sheet))))


def _text(spans: list[Span]) -> str:
    return "".join(span.text for span in spans)


def _page(page: list[StyledLine] | None) -> Iterator[str]:
    if page is not None:
        yield content_of(page).plain


def _bar(sides: bars.Sides) -> Iterator[str]:
    for items in sides:
        yield _text(fitted([Span(item.text, item.role) for item in items], 300))


Model = Callable[[Dump, Chain], Iterator[str]]


def _tree(root: Path) -> Iterator[str]:
    dump = open_dump(root)
    found: Outline | None = None
    for with_kernels in (False, True):
        found = outline(dump, with_kernels=with_kernels)
        yield from _sheet(found.table)
    assert found is not None
    yield from _bar(bars.top(found, Place("run"), 1, 1, None, False))
    for place in [*found.places.values()][: 2 * FEW]:
        yield from _bar(bars.top(found, place, 1, 1, None, False))
        yield command(str(root), place, "fx", "", None)


def _run_page(root: Path) -> Iterator[str]:
    dump = open_dump(root)
    yield from _page(pages.run_page(dump, has_program=False))
    yield from _sheet(OverviewPage(dump, "", has_program=False).sheet(78, 20))
    for name in [*dict.fromkeys(["", *(frame.graph for frame in dump.rows(Frame))])][:FEW]:
        yield from _page(pages.frame_page(dump, name))


def _program(root: Path) -> Iterator[str]:
    recorded_output(root)(0)
    yield ""


def _compare(root: Path) -> Iterator[str]:
    """A dump beside itself, and causes with its words: of equal dumps there are none."""
    dump = open_dump(root)
    found = comparison([Side("old", dump), Side("new", dump)])
    yield from _sheet(found.table)
    for place in range(min(FEW, len(found.table))):
        for text in found.beside(found.table.key(place)):
            yield from _sheet(text)
    for number, (kernel, node) in enumerate(zip(dump.rows(Kernel)[:FEW], dump.rows(Node)[:FEW], strict=False)):
        words = (kernel.name, node.target, node.name)
        cause = Cause(
            level=("source", "fusion")[number % 2],
            what=node.target,
            message=f"{kernel.name} {node.target}",
            where=node.where,
            old_where=node.where,
            a=words,
            b=(),
            settings=words[:1],
            graphs=(kernel.graph,),
            kernels_a=words,
            kernels_b=(),
            cost_a=Cost(launches=1, bytes=number),
            cost_b=Cost(),
            shared_with=words[:number],
            counted_with=node.name if number % 3 == 0 else "",
        )
        for row, _ in cause_rows([cause]):
            assert not callable(row.cells)
            yield "".join(span.text for cell in row.cells for span in cell)
        yield from _sheet(story(cause, 40))
        for is_b in (False, True):
            yield from _sheet(side(cause, is_b=is_b, width=40))


def _model(model: Model) -> View:
    def view(root: Path) -> Iterator[str]:
        dump = open_dump(root)
        for graph in dump.graphs()[:FEW]:
            chain = Chain(CompiledGraph(dump, graph.graph))
            yield from _page(graph_state(CompiledGraph(dump, graph.graph)).failure)
            yield from model(dump, chain)

    return view


def _chosen(dump: Dump, chain: Chain, name: str, sheet: Sheet) -> Iterator[str]:
    """The rows of a list, and what is said of those that are chosen."""
    yield from _sheet(sheet)
    missed = misses(dump, chain)
    for index in range(min(FEW, len(sheet))):
        subject = sheet.subject(index)
        if subject is not None:
            choice = chain.choose(subject, name)
            yield from _bar(bars.context(choice, missed, 80))
            told = command("dump", Place("graph", chain.graph, options=("--graph", chain.graph)), name, "", choice)
            assert "\n" not in told
            yield told


def _source(dump: Dump, chain: Chain) -> Iterator[str]:
    for whole in (False, True):
        yield from _chosen(dump, chain, "source", source(dump, chain, whole))


def _fx(dump: Dump, chain: Chain) -> Iterator[str]:
    for stage in STAGES:
        yield from _chosen(dump, chain, "fx", fx(dump, chain, stage).sheet)


def _ir(dump: Dump, chain: Chain) -> Iterator[str]:
    found = ir(dump, chain)
    yield from _chosen(dump, chain, "ir", found.sheet)
    for form in IR_FORMS:
        yield from _details(found.sheet, lambda key, form=form: found.detail(dump, chain, key, form).code)  # type: ignore[misc]


def _fusion(dump: Dump, chain: Chain) -> Iterator[str]:
    operations = frozenset(name for row in chain.operations_of_node.values() for name in row)
    for mode in FUSION_MODES:
        found = fusion(dump, chain, mode, operations)
        yield from _chosen(dump, chain, "fusion", found.sheet)
        yield from _details(found.sheet, partial(_detail_of, found))


def _detail_of(found: Shown[Table], key: str) -> Sheet:
    return found.details[key](60) if key in found.details else NOTHING


def _details(table: Table, detail: Callable[[str], Sheet]) -> Iterator[str]:
    for row in table.rows[:FEW]:
        yield from _sheet(detail(row.key))


def _kernels(dump: Dump, chain: Chain) -> Iterator[str]:
    yield from _chosen(dump, chain, "kernels", kernels(dump, chain))
    for kernel in chain.kernels[:FEW]:
        found = kernel_source(dump, chain, kernel, output_file(CompiledGraph(dump, chain.graph)))
        yield from _sheet(found)
        for name in STAGES_OF_KERNELS:
            yield from _sheet(staged(dump, chain, kernel, found, name, "").code)


def _cost(dump: Dump, chain: Chain) -> Iterator[str]:
    for part in PARTS.values():
        yield from _chosen(dump, chain, "cost", part(dump, chain))


def _numerics(dump: Dump, chain: Chain) -> Iterator[str]:
    found = numerics(dump, chain)
    yield from _chosen(dump, chain, "numerics", found.sheet)
    yield from _details(found.sheet, partial(_detail_of, found))


def _output(dump: Dump, chain: Chain) -> Iterator[str]:
    for what in WRITTEN:
        found = output(dump, chain, what)
        if found is not None:
            yield from _chosen(dump, chain, "output", found)


VIEWS: Final[dict[str, View]] = {
    **{f"show {table}": _command("show", "DUMP", table) for table in TABLES},
    **{f"show {table} --json": _command("show", "DUMP", table, "--json") for table in TABLES},
    **{f"show {table} --all": _command("show", "DUMP", table, "--all") for table in ("summary", "fusion")},
    "show of a graph": _command("show", "DUMP", "fusion", "op0", "op1", "--graph", "forward"),
    **{f"show flops --by {by}": _command("show", "DUMP", "flops", "--by", by) for by in BY},
    **{f"show flops --by {by} --json": _command("show", "DUMP", "flops", "--by", by, "--json") for by in BY},
    "show node": _nodes,
    "show kernel": _kernel_pages,
    "show of a rank": _command("show", "DUMP", "--rank", "0"),
    "finish": _finish,
    "draw": _draw(),
    "draw --refused": _draw("--refused", "--phase", "before"),
    "draw --around": _draw("--around", "op0", "--depth", "3"),
    "draw --path": _draw("--path", "op0", "op1"),
    "draw --findings": _draw("--findings"),
    **{f"draw {kind.name}": _draw_kind(kind) for kind in KINDS.values() if kind.name != "schedule"},
    "diff": _command("diff", "DUMP", "DUMP"),
    "diff --json": _command("diff", "DUMP", "DUMP", "--json"),
    "report": _report,
    "notebook": _notebook,
    **{f"export --format {form}": _export(form) for form in FORMATS},
    "name": _names,
    "attribute": _command("attribute", "DUMP", _TRACE),
    "attribute --json": _command("attribute", "DUMP", _TRACE, "--json"),
    "tree": _tree,
    "run page": _run_page,
    "program": _program,
    "tui compare": _compare,
    **{
        f"tui {name}": _model(model)
        for name, model in (
            ("source", _source),
            ("fx", _fx),
            ("ir", _ir),
            ("fusion", _fusion),
            ("kernels", _kernels),
            ("cost", _cost),
            ("numerics", _numerics),
            ("output", _output),
        )
    },
}
"""Name → view."""
