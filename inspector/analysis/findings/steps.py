"""What costs time in each step of the program outside of the kernels: launches, waits, the optimizer, the input."""

from collections.abc import Callable, Iterator
from typing import Final

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import EACH_STEP, NOTICEABLE, Finding, parts_at
from inspect_compile.analysis.runtime.cudagraphs import cudagraph_rows
from inspect_compile.analysis.runtime.step_account import Account
from inspect_compile.analysis.runtime.step_of_dump import broken_lines, recorded_account
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, Location
from inspect_compile.facts.compile_id import frame_id
from inspect_compile.graph import CompiledGraph, Graphs, grouped
from inspect_compile.knowledge.cost import step_kinds
from inspect_compile.knowledge.cost.sure import sure_of
from inspect_compile.knowledge.frontend.own_code import own_line
from inspect_compile.knowledge.fusion.knob_values import CHANNELS_LAST
from inspect_compile.knowledge.overview.findings import (
    INPUT,
    LAUNCH_BOUND,
    LAUNCH_BOUND_HOST,
    LAUNCH_BOUND_SKIPPED,
    LAYOUT_CHANGES,
    OPTIMIZER,
    SYNCHRONISATION,
    SYNCHRONISATION_ASKED,
    WORDS,
)

_OF_GRAPHS: Final = frozenset((step_kinds.LAUNCH, step_kinds.WRAPPER))
"""What the host does in the code of a graph, which a CUDA graph replaces."""
_FUSED: Final = "aten::_fused_"
_FOREACH: Final = "aten::_foreach_"
_WITH_FUSED: Final = frozenset(("Adam", "AdamW", "SGD", "Adagrad"))
"""torch.optim's classes with the argument `fused`: torch 2.11 to 2.15."""
_STEP: Final = ".step"
_ZERO: Final = ".zero_grad"
_LARGEST: Final = 0.1
"""Share of a step from which launches are a finding."""


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """Findings of the steps that the run profiled."""
    account = recorded_account(dump)
    if account is not None:
        yield from of_account(dump, account)


def of_account(dump: Dump, account: Account) -> Iterator[Finding]:
    """Findings of the account of a step."""
    for kind in _KINDS:
        yield from kind(dump, account)


def _launches(dump: Dump, account: Account) -> Iterator[Finding]:
    """Time in which the GPU waits for the host to run the code of graphs; on a CPU, what surrounds that code."""
    step, rows = account
    if not step.device:
        around = sum(row.seconds for row in rows if row.kind == step_kinds.OVERHEAD)
        if around >= _LARGEST * step.seconds:
            yield _finding(
                account,
                LAUNCH_BOUND,
                around,
                where=_caller(dump),
                what=WORDS[LAUNCH_BOUND_HOST].what,
                to_do=WORDS[LAUNCH_BOUND_HOST].to_do,
            )
        return
    waiting = [row for row in rows if row.kind == step_kinds.WAITING and row.what in _OF_GRAPHS]
    seconds = sum(row.seconds for row in waiting)
    functions = cudagraph_rows(Graphs(dump))
    skipped = next((row.skipped for row in functions if row.skipped), "")
    if seconds < _LARGEST * step.seconds or any(row.replayed for row in functions):
        return
    launched = round(sum(row.count for row in rows if row.kind in (step_kinds.COMPILED, step_kinds.LIBRARY)))
    words = WORDS[LAUNCH_BOUND_SKIPPED if skipped else LAUNCH_BOUND]
    idle = (step.seconds - step.busy) / step.seconds
    yield _finding(
        account,
        LAUNCH_BOUND,
        seconds,
        where=_caller(dump),
        what=words.what,
        why=f"{launched:,} kernels of graphs in a step; the GPU is idle {idle:.0%} of it",
        to_do=words.to_do.format(why=skipped) if skipped else words.to_do,
    )


def _synchronisations(dump: Dump, account: Account) -> Iterator[Finding]:
    """Each place where the host waits for the GPU in the middle of a step."""
    step, rows = account
    if not step.device:
        return
    lines = broken_lines(dump)
    is_told = any(_optimizers(dump, account))  # with what it waits for
    waits = [row for row in rows if row.kind == step_kinds.SYNCHRONISATION]
    for (what, region, where), own in grouped(waits, lambda row: (row.what, row.region, row.where)).items():
        seconds = sum(row.seconds + row.after for row in own)
        if is_told and where == step_kinds.IN_OPTIMIZER:
            continue
        if seconds < NOTICEABLE * step.seconds:
            continue
        count = max(row.count for row in own)
        words = WORDS[SYNCHRONISATION_ASKED if what.startswith("cuda") else SYNCHRONISATION]
        yield _finding(
            account,
            SYNCHRONISATION,
            seconds,
            where=lines.get(frame_id(region)) if region else None,
            what=words.what,
            why=f"{what}{_at(where)}, {count:.3g} in a step: while the GPU is idle for it, and "
            "until it is given the next kernel",
            to_do=words.to_do,
            names=(what,),
        )


def _at(where: str) -> str:
    if not where:
        return ""
    return f" in {where}" if where == step_kinds.IN_OPTIMIZER else f" at {where}"


def _optimizers(dump: Dump, account: Account) -> Iterator[Finding]:
    """Optimizers outside of graphs that do not use their fused kernels."""
    step, rows = account
    own = [row for row in rows if row.kind == step_kinds.OPTIMIZER and not row.what.endswith(_ZERO)]
    operators = [row for row in own if "::" in row.what]
    waits = [row for row in rows if row.where == step_kinds.IN_OPTIMIZER and row.kind == step_kinds.SYNCHRONISATION]
    seconds = sum(row.seconds for row in own) + sum(row.seconds + row.after for row in waits)
    name = next((row.what.removesuffix(_STEP) for row in own if row.what.endswith(_STEP)), "")
    if seconds < NOTICEABLE * step.seconds or any(row.what.startswith(_FUSED) for row in operators):
        return
    if name and name not in _WITH_FUSED:
        return
    idle = sum(row.seconds for row in (*own, *waits) if row.is_idle)
    how = "lists of tensors (foreach)" if any(row.what.startswith(_FOREACH) for row in operators) else "each tensor"
    runs = round(sum(row.count for row in operators if not row.is_idle or not step.device))
    waiting = f"; the GPU is idle for {idle / seconds:.0%} of that time" if step.device and seconds else ""
    yield _finding(
        account,
        OPTIMIZER,
        seconds,
        what=WORDS[OPTIMIZER].what,
        why=f"{runs:,} {'kernels' if step.device else 'operators'} on {how}{waiting}",
        to_do=WORDS[OPTIMIZER].to_do.format(name=name or "optimizer"),
        names=(f"{name}{_STEP}",) if name else (),
    )


def _layouts(dump: Dump, account: Account) -> Iterator[Finding]:
    """Kernels with which cuDNN turns around what convolutions read and write."""
    step, rows = account
    own = [row for row in rows if row.where == step_kinds.IN_ANOTHER_LAYOUT]
    seconds = sum(row.seconds for row in own)
    if seconds >= NOTICEABLE * step.seconds:
        yield _finding(
            account,
            LAYOUT_CHANGES,
            seconds,
            what=WORDS[LAYOUT_CHANGES].what,
            why=f"{round(sum(row.count for row in own)):,} kernels in a step that only turn tensors around",
            to_do=WORDS[LAYOUT_CHANGES].to_do,
            names=tuple(dict.fromkeys(row.what for row in own)),
            knob=CHANNELS_LAST,
        )


def _inputs(dump: Dump, account: Account) -> Iterator[Finding]:
    """Waiting for the DataLoader."""
    step, rows = account
    seconds = sum(row.seconds for row in rows if row.kind == step_kinds.INPUT)
    if seconds >= NOTICEABLE * step.seconds:
        yield _finding(account, INPUT, seconds, what=WORDS[INPUT].what, to_do=WORDS[INPUT].to_do, names=("DataLoader",))


_KINDS: Final[tuple[Callable[[Dump, Account], Iterator[Finding]], ...]] = (
    _launches,
    _synchronisations,
    _optimizers,
    _layouts,
    _inputs,
)


def _finding(
    account: Account,
    kind: str,
    seconds: float,
    *,
    what: str,
    to_do: str,
    why: str = "",
    where: Location | None = None,
    names: tuple[str, ...] = (),
    knob: str = "",
) -> Finding:
    """A finding about a part of a step: a change saves at most all of it."""
    return Finding(
        kind=kind,
        graph="",
        what=what,
        parts=parts_at(where),
        seconds=seconds,
        when=EACH_STEP,
        share=seconds / account.step.seconds,
        sure=sure_of(account.step.steps),
        calls=account.step.steps,
        is_bound=True,
        why=why,
        to_do=to_do,
        names=names,
        knob=knob,
    )


def _caller(dump: Dump) -> Location | None:
    """The program's line that calls compiled code, if there is one only."""
    lines = {line for row in dump.rows(Frame) if row.caller is not None and (line := own_line(row.caller)) is not None}
    places = {(line.file, line.line): line for line in lines}
    return next(iter(places.values())) if len(places) == 1 else None
