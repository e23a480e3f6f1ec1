"""`show DUMP kernel NAME --stage ptx`: one stage of one kernel line by line, or all stages as counts."""

import sys
from typing import TYPE_CHECKING, Final

from inspect_compile.commands.streams import tell
from inspect_compile.errors import CommandError
from inspect_compile.graph import Graphs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from inspect_compile.analysis.kernels.stage_lines import KernelStages, Stage
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Kernel
    from inspect_compile.graph.kernels.statements import Statements

ALL: Final = "all"
"""All stages, as numbers of lines."""
_MOST_KERNELS: Final = 3
"""Maximum number of kernels shown without `--all`; of the others the commands that show them."""


def show_stage(
    arguments: "argparse.Namespace",
    dump: "Dump",
    graphs: "Sequence[str | None]",
    names: tuple[str, ...],
    dump_argument: str,
) -> None:
    """Print it, like `show`, for each kernel that the name means; CommandError if none has such a stage."""
    from inspect_compile.analysis.lookup.answer import together
    from inspect_compile.analysis.lookup.kernels import find_kernels
    from inspect_compile.commands.dump_selection import done_for_each
    from inspect_compile.commands.printing import print_table
    from inspect_compile.graph import CompiledGraph
    from inspect_compile.tables.fusion.why import heading
    from inspect_compile.tables.lookup_text import resolved
    from inspect_compile.tables.parts import command
    from inspect_compile.tables.styled_text import styled

    if len(names) != 1:
        raise CommandError("name a kernel: `show DUMP kernel NAME --stage ptx`, or `--line 25`, `--node relu`")
    kernels = resolved(together(find_kernels(Graphs(dump, graph), names[0]) for graph in graphs))
    shown = kernels if arguments.json or arguments.all else kernels[:_MOST_KERNELS]
    has_headings = len({kernel.graph for kernel in shown}) > 1 and not arguments.json

    def show(kernel: "Kernel") -> "Kernel":
        if has_headings:
            print_table(heading(CompiledGraph(dump, kernel.graph), is_first=kernel is shown[0]))
        _show_kernel(arguments, dump, kernel, dump_argument)
        return kernel

    _, failures = done_for_each(shown, show)
    sys.stdout.flush()
    for failure in failures:
        tell(str(failure))
    for kernel in kernels[len(shown) :]:
        print_table(styled(f"…   {command(dump_argument, 'kernel', kernel.name, '--graph', kernel.graph)}"))


def _show_kernel(arguments: "argparse.Namespace", dump: "Dump", kernel: "Kernel", dump_argument: str) -> None:
    from inspect_compile.analysis.kernels.stage_counts import narrowed
    from inspect_compile.analysis.kernels.stage_lines import KernelStages, annotated_lines
    from inspect_compile.analysis.lookup.lines import find_source_lines
    from inspect_compile.commands.printing import print_json, print_table
    from inspect_compile.graph import CompiledGraph
    from inspect_compile.tables.kernels.stage_page import MOST_LINES, stage_page
    from inspect_compile.tables.lookup_text import only

    stages, statements = KernelStages(dump, kernel), CompiledGraph(dump, kernel.graph).outermost.statements
    given = {"--line": arguments.line, "--node": arguments.node}
    asked = tuple(word for option, value in given.items() if value is not None for word in (option, value))
    meant = only(find_source_lines(dump, statements, stages, arguments.line, arguments.node)) if asked else None
    limit = None if arguments.all else arguments.limit
    most = MOST_LINES if limit is None and not arguments.all else limit
    if (arguments.stage or ALL) == ALL:
        _show_counts(arguments, dump, statements, stages, meant, limit if arguments.json else most, dump_argument)
        return
    stage, title_note = stage_of(dump, stages, arguments.stage, arguments.config, is_trusted=arguments.compile)
    if stage.note and (meant is not None or (arguments.json and not stage.text)):
        raise CommandError(f"{kernel.name}: {stage.note}")
    if arguments.json:
        print_json(narrowed(annotated_lines(statements, kernel, stage), meant), limit=limit)
    else:
        shown = stage_page(
            statements,
            stages,
            stage,
            meant=meant,
            asked=asked,
            limit=most,
            title_note=title_note,
            dump_argument=dump_argument,
        )
        print_table(shown)


def _show_counts(
    arguments: "argparse.Namespace",
    dump: "Dump",
    statements: "Statements",
    stages: "KernelStages",
    meant: frozenset[int] | None,
    limit: int | None,
    dump_argument: str,
) -> None:
    from inspect_compile.analysis.kernels.stage_counts import counted
    from inspect_compile.analysis.lookup.kernels import find_configuration
    from inspect_compile.commands.printing import print_json, print_table
    from inspect_compile.tables.kernels.stage_page import stage_counts
    from inspect_compile.tables.lookup_text import only

    kernel = stages.kernel
    if kernel.source.endswith(".cpp"):
        raise CommandError(f"{kernel.name}: a C++ kernel has one stage: --stage asm")
    if not stages.compiled:
        raise CommandError(f"{kernel.name}: Triton compiled no kernel of this name")
    row = only(find_configuration(dump, stages, arguments.config))
    found, notes = counted(statements, stages, row)
    if not any(one.counts for one in found):
        raise CommandError(f"{kernel.name}: {notes[0] if notes else row.left_out or 'no stage is in the dump'}")
    rows = [one for one in found if meant is None or one.line in meant]
    if not rows:
        raise CommandError(f"{kernel.name}: no stage has code of this line of its source")
    if arguments.json:
        print_json(rows, limit=limit)
    else:
        print_table(stage_counts(statements, stages, row.label, rows, notes, limit=limit, dump_argument=dump_argument))


def stage_of(
    dump: "Dump", stages: "KernelStages", name: str, label: str | None, *, is_trusted: bool
) -> "tuple[Stage, str]":
    """The stage of a kernel, and a note for its title; CommandError if there is none."""
    from inspect_compile.analysis.kernels.stage_lines import ASSEMBLY, STAGES, of_assembly
    from inspect_compile.analysis.lookup.kernels import find_configuration
    from inspect_compile.tables.lookup_text import only

    kernel = stages.kernel
    if kernel.source.endswith(".cpp"):
        if name != ASSEMBLY:
            raise CommandError(f"{kernel.name}: a C++ kernel has no {name}; there is --stage {ASSEMBLY}")
        if not stages.source:
            raise CommandError(f"{kernel.name}: its source is not in the dump")
        from inspect_compile.launch.assembly import FILE, assembly

        try:
            made = assembly("\n".join(stages.source), is_trusted=is_trusted)
        except CommandError as error:
            raise CommandError(f"{kernel.name}: no {ASSEMBLY}: {error}") from None
        return of_assembly(made.text, stages.source, FILE), f"compiled again here, with the flags of torch {made.torch}"
    if not stages.compiled:
        raise CommandError(f"{kernel.name}: Triton compiled no kernel of this name")
    row = only(find_configuration(dump, stages, label))
    if name == ASSEMBLY:
        name = next((stage for stage in stages.names(row) if stage in ("ptx", "amdgcn")), "ptx")
    if name not in STAGES:
        raise CommandError(f"--stage {name}: no such stage; {kernel.name} has {' '.join(stages.names(row))}")
    return stages.stage(row, name), ""
