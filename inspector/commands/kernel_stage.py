"""`show DUMP kernel NAME --stage ptx`: one stage of one kernel, line by line."""

from typing import TYPE_CHECKING

from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    import argparse

    from inspect_compile.analysis.stage_lines import KernelStages, Stage
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Kernel


def add_stage(parser: "argparse.ArgumentParser") -> None:
    """The options that choose a stage and a configuration of it."""
    parser.add_argument(
        "--stage",
        metavar="STAGE",
        help="kernel: ttir, ttgir, llir, ptx, sass, amdgcn; asm for a C++ kernel: line by line",
    )
    parser.add_argument(
        "--config", metavar="LABEL", help="with --stage: a configuration, `XBLOCK256-w4-s1` or a part of it"
    )


def show_stage(
    arguments: "argparse.Namespace", dump: "Dump", graph: str | None, names: tuple[str, ...], said: str
) -> None:
    """Print it, as `show` does."""
    from inspect_compile.analysis.stage_lines import KernelStages, annotated_lines
    from inspect_compile.analysis.statements import Statements
    from inspect_compile.commands.show import print_json, print_table
    from inspect_compile.tables.stage_page import MOST_LINES, stage_page

    kernel = _kernel(dump, graph, names)
    stages, statements = KernelStages(dump, kernel), Statements(dump, kernel.graph.partition("/")[0])
    stage, told = _stage(stages, arguments.stage or "", arguments.config)
    limit = None if arguments.all else arguments.limit
    if arguments.json:
        if not stage.text:
            raise CommandError(f"{kernel.name}: {stage.note}")
        print_json(annotated_lines(statements, kernel, stage), (), limit)
    else:
        limit = MOST_LINES if limit is None and not arguments.all else limit
        print_table(stage_page(statements, stages, stage, limit=limit, told=told, said=said))


def _kernel(dump: "Dump", graph: str | None, names: tuple[str, ...]) -> "Kernel":
    from inspect_compile.analysis.statements import kernels_named

    if len(names) != 1:
        raise CommandError("--stage: of which kernel? `show DUMP kernel NAME --stage ptx`")
    found = list(kernels_named(dump, graph, names[0]))
    if len({row.name for row in found}) > 1:
        raise CommandError(
            f"{names[0]}: {len(found)} kernels are called so; one of {' '.join(row.name for row in found)}"
        )
    if len(found) > 1:
        raise CommandError(
            f"{names[0]}: in {len(found)} graphs; choose one with --graph: {' '.join(row.graph for row in found)}"
        )
    return found[0]


def _stage(stages: "KernelStages", name: str, label: str | None) -> "tuple[Stage, str]":
    """The stage, and what is to be told beside it."""
    from inspect_compile.analysis.stage_lines import ASSEMBLY, STAGES, of_assembly

    kernel = stages.kernel
    if kernel.source.endswith(".cpp"):
        if name != ASSEMBLY:
            raise CommandError(
                f"{kernel.name}: a C++ kernel has no {name or 'configurations'}; there is --stage {ASSEMBLY}"
            )
        if not stages.source:
            raise CommandError(f"{kernel.name}: its source is not in the dump")
        from inspect_compile.launch.assembly import FILE, assembly

        made = assembly("\n".join(stages.source))
        return of_assembly(made.text, stages.source, FILE), f"compiled here again, with the flags of torch {made.torch}"
    if not stages.compiled:
        raise CommandError(f"{kernel.name}: Triton compiled nothing of this name")
    row = stages.configuration(label)
    if name == ASSEMBLY:
        name = next((stage for stage in stages.names(row) if stage in ("ptx", "amdgcn")), "ptx")
    if name not in STAGES:
        raise CommandError(f"--stage {name}: no such stage; {kernel.name} has {' '.join(stages.names(row))}")
    return stages.stage(row, name), ""
