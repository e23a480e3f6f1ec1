"""What costs time in each step of the program outside of the kernels: launches, waits, the optimizer, the input."""

from collections.abc import Callable, Iterator
from typing import Final

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import EACH_STEP, NOTICEABLE, Finding, parts_at
from inspect_compile.analysis.runtime.cudagraphs import cudagraph_rows
from inspect_compile.analysis.runtime.step_account import Account
from inspect_compile.analysis.runtime.step_of_dump import recorded_account
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, Location, StepTime
from inspect_compile.graph import CompiledGraph, Graphs, grouped
from inspect_compile.knowledge.cost import step_kinds
from inspect_compile.knowledge.cost.sure import sure_of
from inspect_compile.knowledge.frontend.own_code import own_line
from inspect_compile.knowledge.fusion.knob_values import CHANNELS_LAST
from inspect_compile.knowledge.overview.findings import (
    EAGER,
    EAGER_BREAK,
    EAGER_TENSORS,
    INPUT,
    LAUNCH_BOUND,
    LAUNCH_BOUND_HOST,
    LAUNCH_BOUND_SKIPPED,
    LAYOUT_CHANGES,
    OPTIMIZER,
    SYNCHRONISATION,
    SYNCHRONISATION_ASKED,
    TRANSFER,
    TRANSFER_BACK,
    TRANSFER_PINNED,
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
_SENDS: Final = frozenset(("aten::to", "aten::_to_copy", "aten::copy_", "aten::tensor"))
"""Operators that wait for a copy of theirs."""
_PAGEABLE: Final = "Pageable"
_MANY: Final = 8
"""Operators of one name in a step from which on they are taken for those of a loop over tensors."""
_FEW: Final = 3
_LARGEST: Final = 0.05
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
    is_told = any(_optimizers(dump, account))  # with what it waits for
    transfers = {_place(row) for row in rows if row.kind == step_kinds.COPIES}
    for (what, where, region), own in grouped(_waits(rows), lambda row: (row.what, row.where, row.region)).items():
        if (is_told and where == step_kinds.IN_OPTIMIZER) or (what in _SENDS and _place(own[0]) in transfers):
            continue
        seconds = sum(row.seconds + row.after for row in own)
        if not region:
            # Without the wait the host goes on at once, but has no less to do: a step is shorter by the wait at most.
            # In a compiled function the graph break goes, too.
            seconds = min(seconds, sum(row.waited for row in own))
        if seconds < NOTICEABLE * step.seconds:
            continue
        count = max(row.count for row in own)
        words = WORDS[SYNCHRONISATION_ASKED if what.startswith("cuda") else SYNCHRONISATION]
        yield _finding(
            account,
            SYNCHRONISATION,
            seconds,
            where=own[0].line,
            what=words.what,
            why=f"{what}{_at(where)}, {count:.3g} in a step: while the GPU is idle for it, and "
            "until it is given the next kernel",
            to_do=words.to_do,
            names=(what,),
        )


def _waits(rows: list[StepTime]) -> list[StepTime]:
    return [row for row in rows if row.kind == step_kinds.SYNCHRONISATION]


def _place(row: StepTime) -> tuple[object, ...]:
    """Where the program does it."""
    return (row.region, row.where) if row.line is None else (row.line.file, row.line.line)


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
            why=f"{round(sum(row.count for row in own)):,} kernels in a step that only convert layouts",
            to_do=WORDS[LAYOUT_CHANGES].to_do,
            names=tuple(dict.fromkeys(row.what for row in own)),
            knob=CHANNELS_LAST,
        )


def _transfers(dump: Dump, account: Account) -> Iterator[Finding]:
    """Copies between host and GPU that no kernel hides, line by line."""
    step, rows = account
    copies = [row for row in rows if row.kind == step_kinds.COPIES]
    waits = grouped((row for row in _waits(rows) if row.what in _SENDS), _place)
    for (way, place), own in grouped(copies, lambda row: (row.what, _place(row))).items():
        seconds = sum(row.seconds for row in (*own, *waits.get(place, ())))
        if seconds < NOTICEABLE * step.seconds:
            continue
        words = WORDS[TRANSFER_BACK if "DtoH" in way else TRANSFER if _PAGEABLE in way else TRANSFER_PINNED]
        yield _finding(
            account,
            TRANSFER,
            seconds,
            where=own[0].line,
            what=words.what,
            why=f"{way}{_at(own[0].where)}, {max(row.count for row in own):.3g} in a step",
            to_do=words.to_do,
            names=(way,),
        )


def _eager(dump: Dump, account: Account) -> Iterator[Finding]:
    """Operators outside of compiled graphs, function by function of the program."""
    step, rows = account
    located = [row for row in rows if row.kind == step_kinds.EAGER and row.line is not None]
    for _, own in grouped(located, _function).items():
        seconds = sum(row.seconds for row in own)
        if seconds < NOTICEABLE * step.seconds:
            continue
        by_line = grouped(own, lambda row: row.line)
        lines = sorted(by_line, key=lambda line: -sum(row.seconds for row in by_line[line]))
        counts = _counts(own, is_on_gpu=bool(step.device))
        words = WORDS[EAGER]
        if any(row.region for row in own):
            words = WORDS[EAGER_BREAK]
        elif max(counts.values(), default=0) >= _MANY:
            words = WORDS[EAGER_TENSORS]
        idle = sum(row.seconds for row in own if row.is_idle)
        waiting = f"; the GPU is idle for {idle / seconds:.0%} of that time" if step.device else ""
        others = "" if len(lines) == 1 else f" and {len(lines) - 1} more of the function"
        named = ", ".join(f"{count:.3g} {name}" for name, count in list(counts.items())[:_FEW])
        named += f", {len(counts) - _FEW} more" if len(counts) > _FEW else ""
        yield _finding(
            account,
            EAGER,
            seconds,
            where=lines[0],
            what=words.what,
            why=f"this line{others}, in a step: {named}{waiting}",
            to_do=words.to_do,
            names=tuple(counts),
        )


def _function(row: StepTime) -> tuple[str, str, str]:
    line = row.line
    return ("", "", "") if line is None else (line.file, line.function, row.region)


def _counts(rows: list[StepTime], *, is_on_gpu: bool) -> dict[str, float]:
    """Operator → how many kernels it starts in a step, on a CPU how often it runs; the most time first."""
    found = {}
    for name, own in grouped(rows, lambda row: row.what).items():
        count = sum(row.count for row in own if not (is_on_gpu and row.is_idle))
        if count:
            found[name] = (sum(row.seconds for row in own), count)
    return {name: found[name][1] for name in sorted(found, key=lambda name: -found[name][0])}


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
    _transfers,
    _eager,
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
