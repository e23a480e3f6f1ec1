"""What a person asked `draw` for: the dump, the kind of picture, what to draw of it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.commands.usage.near import did_you_mean
from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.diagrams.kinds.kind import HEATS, STAGES, Kind, Wanted
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.diagrams.schedule.units import Phase
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph

PHASES: Final[dict[str, "tuple[Phase, ...]"]] = {
    "before": ("pre_fusion",),
    "after": ("post_fusion",),
    "both": ("pre_fusion", "post_fusion"),
}
DEFAULT: Final = "schedule"
FEW: Final = 8
"""Up to this many graphs are drawn if none is selected."""


class DrawRequest(NamedTuple):
    """The words that are no options."""

    kind: Kind
    dump: str | None
    name: str


class _Option(NamedTuple):
    flag: str
    field: str
    """What of `Wanted` it sets."""


_OPTIONS: Final = (
    _Option("phase", "phases"),
    _Option("around", "around"),
    _Option("path", "path"),
    _Option("findings", "findings"),
    _Option("refused", "refused"),
    _Option("heat", "heat"),
    _Option("fold", "fold"),
    _Option("stage", "stage"),
    _Option("all", "everything"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that choose what of a kind is drawn."""
    parser.add_argument(
        "--phase",
        choices=PHASES,
        help="of a schedule: before fusion, after fusion, or both (default; with -o FILE: after)",
    )
    parser.add_argument("--around", metavar="NODE", help="only what is near this operation, buffer, node or kernel")
    parser.add_argument(
        "--depth", "--radius", type=int, default=2, metavar="N", help="how many arrows away (default: 2)"
    )
    parser.add_argument("--path", nargs=2, metavar=("A", "B"), help="only what is on a path from one to the other")
    parser.add_argument(
        "--findings",
        action="store_true",
        help="only what the findings are about: missed fusions, with their bytes and reasons, copies, slow kernels",
    )
    folding = parser.add_mutually_exclusive_group()
    folding.add_argument(
        "--fold",
        action="store_true",
        default=None,
        help="draw repeated layers once, one box for each kernel, and modules if that is still too much (default"
        " for large drawings)",
    )
    folding.add_argument("--unfold", dest="fold", action="store_false", help="one box for each operation or node")
    parser.add_argument("--refused", action="store_true", help="before fusion, also the pairs that were not fused")
    parser.add_argument(
        "--heat",
        choices=HEATS,
        help="colour each launch by its bytes, FLOPs, time (measured, or the least possible) or registers; error:"
        " by the worst verdict of `numerics`",
    )
    parser.add_argument(
        "--stage", choices=STAGES, help="stage of an FX graph (default: post_grad, the graph that is lowered)"
    )
    parser.add_argument("--all", action="store_true", help="also constants, parameters and views")


def asked(words: list[str]) -> DrawRequest:
    """`[DUMP] [KIND [NAME]]`, or `KIND DUMP`. Raises CommandError if they are no such words."""
    place = next((at for at, word in enumerate(words) if word in KINDS and not Path(word).is_dir()), None)
    if place is None:
        if len(words) > 1:
            meant = did_you_mean(words[1], KINDS)
            told = f"draw {' '.join(words)}: no such diagram as {words[1]}{meant}"
            raise CommandError(f"{told if meant else told + ';'} there are: {', '.join(KINDS)}")
        if words and not Path(words[0]).exists() and (meant := did_you_mean(words[0], KINDS)):
            raise CommandError(f"draw {words[0]}: neither a dump nor a diagram{meant}")
        return DrawRequest(KINDS[DEFAULT], words[0] if words else None, "")
    kind, others = KINDS[words[place]], [*words[:place], *words[place + 1 :]]
    names = words[place + 1 :] if kind.named else []
    dumps = words[:place] if kind.named else others
    if len(names) != bool(kind.named) or len(dumps) > 1:
        if kind.named and not names:
            raise CommandError(f"draw {kind.name}: which {kind.named.lower()}? draw [DUMP] {kind.name} {kind.named}")
        usage = " ".join(filter(None, (kind.name, kind.named)))
        raise CommandError(f"draw {' '.join(words)}: too many words; draw [DUMP] {usage}")
    return DrawRequest(kind, dumps[0] if dumps else None, names[0] if names else "")


def wanted(kind: Kind, name: str, arguments: argparse.Namespace, *, is_file: bool) -> Wanted:
    """What to draw of a kind. Raises CommandError for an option that the kind does not take."""
    for option in _OPTIONS:
        if getattr(arguments, option.flag) not in (None, False) and option.field not in kind.options:
            takers = [other.name for other in KINDS.values() if option.field in other.options]
            hint = f"that option is for {' and '.join(takers)}"
            raise CommandError(f"draw {kind.name} takes no --{option.flag}: {hint}")
    return Wanted(
        name=name,
        phases=PHASES[arguments.phase or ("after" if is_file else "both")],
        around=arguments.around,
        depth=arguments.depth,
        path=tuple(arguments.path) if arguments.path else None,
        findings=arguments.findings,
        refused=arguments.refused,
        heat=arguments.heat,
        fold=arguments.fold,
        stage=arguments.stage or Wanted.stage,
        everything=arguments.all,
    )


def selected_graphs(dump: "Dump", named: str | None, *, is_any: bool) -> "list[CompiledGraph]":
    """The graphs that `named` selects; without it, all, unless there are many. `is_any`: however many there are."""
    from inspect_compile.analysis.dumps.nothing import nothing_text
    from inspect_compile.analysis.lookup.graphs import find_graphs
    from inspect_compile.graph import CompiledGraph, Graphs
    from inspect_compile.tables.lookup_text import resolved

    if named is not None and named != "all":
        return [CompiledGraph(dump, found.graph) for found in resolved(find_graphs(dump, named))]
    graphs = list(Graphs(dump))
    if not graphs:
        raise CommandError(f"{dump.name}: {nothing_text(dump)}")
    if len(graphs) > FEW and named is None and not is_any:
        raise CommandError(
            f"{dump.name}: {len(graphs)} graphs; choose one with --graph ({names_of(graphs)}), or --graph all"
        )
    return graphs


def names_of(graphs: "list[CompiledGraph]") -> str:
    """Their names, the first ones of many."""
    names = [graph.name for graph in graphs]
    return ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
