"""`diff OLD NEW --stage ptx KERNEL`: one text of a kernel and of its counterpart, as a unified diff."""

from typing import TYPE_CHECKING

from inspect_compile.errors import CommandError
from inspect_compile.graph import Graphs

if TYPE_CHECKING:
    import argparse

    from inspect_compile.dump import Dump
    from inspect_compile.facts import Kernel


def diff_stage(dumps: "tuple[Dump, Dump]", names: tuple[str, str], arguments: "argparse.Namespace") -> int:
    """Print it; 1 where the texts differ. CommandError if a side has no such kernel, or not this text of it."""
    from inspect_compile.analysis.compare.causes.texts import unified
    from inspect_compile.commands.printing import print_json, print_table
    from inspect_compile.tables.compare.differences import stage_difference

    stage, asked = arguments.stage
    kernels = _kernels(dumps, asked)
    (stage, one), (_, other) = (
        _text(dump, kernel, stage, is_trusted=arguments.compile) for dump, kernel in zip(dumps, kernels, strict=True)
    )
    rows = unified(stage, kernels, (one, other))
    if arguments.json:
        print_json(rows)
    else:
        print_table(stage_difference(rows, names, kernels, stage))
    return 1 if rows else 0


def _kernels(dumps: "tuple[Dump, Dump]", asked: str) -> "tuple[Kernel, Kernel]":
    """The kernel on the first side, or where it has none on the other one, and its counterpart."""
    from inspect_compile.analysis.compare.causes.find import counterparts
    from inspect_compile.analysis.compare.pairing import paired
    from inspect_compile.analysis.lookup.answer import Found
    from inspect_compile.analysis.lookup.kernels import find_kernels
    from inspect_compile.tables.lookup_text import resolved

    answers = [find_kernels(Graphs(dump), asked) for dump in dumps]
    is_b = not isinstance(answers[0], Found) and isinstance(answers[1], Found)
    kernel, *others = resolved(answers[is_b])
    if others:
        raise CommandError(f"{asked}: several kernels: {' '.join(one.name for one in (kernel, *others))[:400]}")
    found = counterparts(paired(*dumps), kernel, is_b=is_b)
    if not found:
        raise CommandError(f"{kernel.name}: the other dump has no kernel that computes any of this")
    return (found[0], kernel) if is_b else (kernel, found[0])


def _text(dump: "Dump", kernel: "Kernel", stage: str, *, is_trusted: bool) -> tuple[str, str]:
    """The stage by its own name (`asm` of a Triton kernel is ptx or amdgcn), and the text."""
    from inspect_compile.analysis.compare.causes.texts import SOURCE
    from inspect_compile.analysis.kernels.stage_lines import KernelStages
    from inspect_compile.commands.kernel_stage import stage_of

    stages = KernelStages(dump, kernel)
    if stage == SOURCE:
        if not stages.source:
            raise CommandError(f"{kernel.name}: its source is not in {dump.name}")
        return stage, "\n".join(stages.source)
    found, _ = stage_of(dump, stages, stage, None, is_trusted=is_trusted)
    if not found.text:
        raise CommandError(f"{kernel.name} in {dump.name}: {found.note}")
    return found.name or stage, found.text
