"""`draw`: a dump's graphs as SVG, PNG and DOT."""

import argparse
import contextlib
import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspect_compile.commands.drawing.charts import CHARTS, draw_chart
from inspect_compile.commands.output_file import write
from inspect_compile.errors import CommandError
from inspect_compile.tables.text import unbroken

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.pair_story import ResolvedOperations
    from inspect_compile.diagrams.schedule.units import Phase
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Graph

DIAGRAMS: Final = ("schedule", *CHARTS)
FORMATS: Final = ("svg", "png", "pdf", "dot")
PHASES: Final[dict[str, "tuple[Phase, ...]"]] = {
    "before": ("pre_fusion",),
    "after": ("post_fusion",),
    "both": ("pre_fusion", "post_fusion"),
}
HEATS: Final = ("bytes", "flops", "time", "registers", "error")
FEW: Final = 8
"""Up to this many graphs are drawn if none is selected."""


class Draw:
    """Writes a diagram for each graph and phase, and prints where it is."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.dump_selection import add_part

        parser.usage = "%(prog)s [DUMP] [schedule | memory | roofline | timeline] [options]"
        parser.add_argument(
            "words",
            nargs="*",
            metavar="DUMP",
            help="the dump, by default the newest one below the current directory; and what to draw: "
            "schedule (the default), memory, roofline, timeline",
        )
        add_part(parser)
        parser.add_argument("--graph", metavar="G", help="its name, a part of it, forward, backward, or 0/0; or all")
        parser.add_argument(
            "--phase", choices=PHASES, help="before fusion, after it, or both (default; with -o FILE after)"
        )
        parser.add_argument("-o", "--output", metavar="FILE", help="a file for one diagram, or a folder")
        parser.add_argument("--format", choices=FORMATS, help="default: as FILE ends, else svg; the .dot comes with it")
        parser.add_argument(
            "--around", metavar="NODE", help="only what is near to this operation, buffer, FX node or kernel"
        )
        parser.add_argument(
            "--depth", "--radius", type=int, default=2, metavar="N", help="how many arrows away (default: 2)"
        )
        folding = parser.add_mutually_exclusive_group()
        folding.add_argument(
            "--fold",
            action="store_true",
            default=None,
            help="a box for each kernel, layers that repeat once, and modules where it is still too much "
            "(default from 300 scheduler nodes on)",
        )
        folding.add_argument("--unfold", dest="fold", action="store_false", help="a box for each operation")
        parser.add_argument("--list", action="store_true", help="say what can be drawn of this dump, and draw nothing")
        parser.add_argument("--refused", action="store_true", help="before fusion, also the pairs that were not fused")
        parser.add_argument(
            "--heat",
            choices=HEATS,
            help="colour each launch by its bytes, FLOPs, time (measured, else at least) or "
            "registers; error: by the worst verdict of `numerics`",
        )
        parser.add_argument(
            "--timeout", type=float, metavar="SECONDS", help="how long Graphviz may take for one diagram (default: 60)"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Draw; the .dot files are written even if Graphviz fails."""
        from inspect_compile.commands.dump_selection import tell_left_out
        from inspect_compile.diagrams.render import MissingError
        from inspect_compile.diagrams.schedule.heat import HEATS as HEAT_OF
        from inspect_compile.diagrams.schedule.schedule import schedule_dot
        from inspect_compile.facts import Operation
        from inspect_compile.tables.text import one_line

        dump = _dump(arguments)
        if arguments.list:
            from inspect_compile.commands.drawing.listed import print_drawings

            print_drawings(dump, HEATS)
            return 0
        graphs = _graphs(dump, arguments.graph)
        output = Path(arguments.output) if arguments.output is not None else None
        is_file = output is not None and not (output.is_dir() or arguments.output.endswith(("/", os.sep)))
        chart = next((word for word in arguments.words if word in CHARTS), None)
        if chart is not None:
            if is_file and len(graphs) > 1:
                told = f"one file, and {len(graphs)} graphs; choose with --graph ({_names(graphs)})"
                raise CommandError(f"-o {output}: {told}")
            place = partial(_stem, dump, name=chart, output=output, is_file=is_file)
            draw_chart(chart, arguments, dump, graphs, place, write)
            tell_left_out(dump)
            return 0
        phases = PHASES[arguments.phase or ("after" if is_file else "both")]
        form = arguments.format or _format_of(output if is_file else None)
        if is_file and len(graphs) * len(phases) > 1:
            raise CommandError(
                f"-o {output}: one file, and {len(graphs) * len(phases)} diagrams; "
                f"choose with --graph ({_names(graphs)}) and --phase (before, after), or name a folder"
            )
        trouble: CommandError | None = None
        drawn = 0
        around = _around(dump, graphs, arguments.around) if arguments.around is not None else {}
        for graph in graphs:
            meant = around.get(graph.graph.partition("/")[0])
            if around and meant is None:
                continue
            heat = HEAT_OF[arguments.heat](dump, graph.graph) if arguments.heat is not None else None
            if arguments.heat is not None and heat is None:
                sys.stderr.write(f"{unbroken(graph.graph)}: {_NOT_MEASURED[arguments.heat]}\n")
                continue
            recorded = {row.phase for row in dump.rows(Operation, graph.graph)}
            for phase in phases:
                if phase not in recorded:
                    sys.stderr.write(f"{unbroken(graph.graph)}: no operations were recorded {_WORDS[phase]}\n")
                    continue
                text = schedule_dot(
                    dump,
                    graph.graph,
                    phase,
                    around=meant,
                    depth=arguments.depth,
                    refused=arguments.refused,
                    heat=heat,
                    fold=arguments.fold,
                )
                name = _name(phase, arguments.around, arguments.heat)
                stem = _stem(dump, graph, name, output, is_file=is_file)
                drawn += 1
                missing = trouble if isinstance(trouble, MissingError) else None
                trouble = _write(stem, text, form, arguments.timeout, missing) or trouble
        for row in dump.run.omitted:
            sys.stderr.write(f"not all is here: {one_line(row.message)}\n")
        tell_left_out(dump)
        if trouble is not None:
            raise CommandError(f"{trouble}; the .dot files are written")
        if not drawn and arguments.heat is not None:
            raise CommandError(f"{dump.root}: nothing to colour, {_NOT_MEASURED[arguments.heat]}")
        if not drawn:
            raise CommandError(
                f"{dump.root}: no operations of {_names(graphs)} were recorded; the program may still be compiling"
            )
        return 0


_NOT_MEASURED: Final = {
    "bytes": "no launch was recorded",
    "flops": "nothing that is counted was computed",
    "time": "no launch was timed (inspect-compile run --measure), and what the device can do is not known",
    "registers": "no Triton kernel was compiled",
    "error": "no launch was checked (inspect-compile numerics SCRIPT)",
}
_WORDS: Final = {"pre_fusion": "before fusion", "post_fusion": "after fusion"}


def _dump(arguments: argparse.Namespace) -> "Dump":
    """The selected dump. Any other argument must be the name of a diagram."""
    from inspect_compile.commands.dump_selection import needs_rank, selected

    words = arguments.words
    others = [word for word in words if word not in DIAGRAMS or Path(word).is_dir()]
    if len(others) > 1:
        raise CommandError(f"draw {' '.join(words)}: no such diagram as {others[1]}; there are: {', '.join(DIAGRAMS)}")
    dump = selected(others[0] if others else None, arguments)
    needs_rank(dump, "diagrams")
    return dump


def _graphs(dump: "Dump", wanted: str | None) -> list["Graph"]:
    from inspect_compile.analysis.dumps.graphs import outermost
    from inspect_compile.analysis.dumps.nothing import nothing_text
    from inspect_compile.analysis.lookup.graphs import find_graphs
    from inspect_compile.tables.lookup_text import resolved

    if wanted is not None and wanted != "all":
        return list(resolved(find_graphs(dump, wanted)))
    graphs = outermost(dump)
    if not graphs:
        raise CommandError(f"{dump.root}: nothing to draw, {nothing_text(dump)}")
    if len(graphs) > FEW and wanted is None:
        raise CommandError(
            f"{dump.root}: {len(graphs)} graphs; choose one with --graph ({_names(graphs)}), or --graph all"
        )
    return graphs


def _around(dump: "Dump", graphs: list["Graph"], name: str) -> "dict[str, ResolvedOperations]":
    """Outermost graph → the operations that `name` means in it, of those that have any; CommandError if none has."""
    from inspect_compile.analysis.lookup.answer import together
    from inspect_compile.analysis.lookup.operations import find_operations
    from inspect_compile.tables.lookup_text import resolved

    found = resolved(together(find_operations(dump, (name,), graph.graph) for graph in graphs))
    return {meant.graph.partition("/")[0]: meant for (meant,) in found}


def _names(graphs: list["Graph"]) -> str:
    names = [graph.graph for graph in graphs]
    return ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")


def _format_of(path: Path | None) -> str:
    if path is None or not path.suffix:
        return "svg"
    form = path.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise CommandError(f"-o {path}: no such format; there are: {', '.join(FORMATS)}")
    return form


def _name(phase: "Phase", around: str | None, heat: str | None) -> str:
    from inspect_compile.dump import paths

    name = {"pre_fusion": paths.SCHEDULE_PRE_FUSION, "post_fusion": paths.SCHEDULE_POST_FUSION}[phase]
    name = name if heat is None else f"{name}_{heat}"
    return name if around is None else paths.cased_name(f"{name}_around_{around}")


def _stem(dump: "Dump", graph: "Graph", name: str, output: Path | None, *, is_file: bool) -> Path:
    """The file to write, without extension: in the graph's folder of the dump, or here if that is not writable."""
    from inspect_compile.dump import paths

    if output is not None and is_file:
        return output.with_suffix("") if output.suffix.removeprefix(".").lower() in FORMATS else output
    if "/" in graph.graph:
        name = paths.cased_name(f"{graph.graph.partition('/')[2]}_{name}")
    folder = dump.folder(graph.graph)
    if output is None and paths.inside(dump.root, folder) and _is_writable(folder):
        return folder / name
    return (output or Path()) / paths.safe_name(f"{graph.graph.partition('/')[0]}_{name}")


def _is_writable(folder: Path) -> bool:
    with contextlib.suppress(OSError), tempfile.TemporaryFile(dir=folder):
        return True
    return False


def _write(
    stem: Path, text: str, form: str, timeout: float | None, missing: CommandError | None
) -> CommandError | None:
    """Write the .dot, then Graphviz's drawing unless Graphviz is known to be missing; returns the error, if any."""
    from inspect_compile.diagrams.render import SECONDS, pdf, png, svg

    write(stem.with_name(f"{stem.name}.dot"), text.encode("utf-8", "replace"))
    failure = missing
    if form != "dot" and missing is None:
        try:
            limit = SECONDS if timeout is None else timeout
            drawn = {"svg": lambda: svg(text, limit).encode(), "png": lambda: png(text, limit)}
            write(stem.with_name(f"{stem.name}.{form}"), drawn.get(form, lambda: pdf(text, limit))())
        except CommandError as error:
            failure = error
    form = "dot" if failure is not None else form
    sys.stdout.write(f"{unbroken(str(stem.with_name(f'{stem.name}.{form}')))}\n")
    return failure
