"""What interrupted the compiled code, and what each call loses by that."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import Finding, parts_at
from inspect_compile.analysis.frontend.frames import resumed
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, GraphBreak, Guard, Location
from inspect_compile.facts.compile_id import compile_order, frame_id
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.frontend.own_code import is_library
from inspect_compile.knowledge.overview.findings import (
    BREAK,
    BREAK_BUILTIN,
    BREAK_MASK,
    BREAK_NUMBER,
    NOTHING_COMPILED,
    WORDS,
)

_NO_USE: Final = "This graph break is fundamental"
_NO_MESSAGE: Final = " Message: None"
_COMPUTED: Final = " The branch condition involves a tensor computed as follows:"
"""Beginning of a list of all that leads to the condition, often dozens of operators."""
_REPORTS: Final = (
    "Please report an issue to PyTorch",
    "Please file an issue to PyTorch",
    "please file an issue on GitHub",
    "Please file an issue on GitHub",
    "Report an issue to the backend compiler repo",
)
_BUILTIN: Final = "Dynamo does not know how to trace the builtin "
"""Of a function in C, torch gives two hints, of which it does not know whether either applies."""
_CALLED: Final = re.compile(r"`([\w.]+)\(")
"""A call in a hint of torch's."""
_SETTING: Final = "torch._dynamo.config."
_OPTIMIZER: Final = re.compile(r"(?:^|[/\\])torch[/\\]optim[/\\]optimizer\.py$")
"""torch's optimizers interrupt whatever calls their step, on purpose: nobody can do without, and the step itself is
compiled as a whole.
"""
_WAITS: Final = ("Tensor.item", ".item()", "aten._local_scalar_dense", "data-dependent", "aten.nonzero", "tolist")
"""In torch's reasons: the line needs a value, or a size that depends on one."""
_OF_MASK: Final = "`aten.nonzero.default`"
_INDEXED: Final = re.compile(r"[\w)\]]\[")
_TO_NUMBER: Final = re.compile(r"\bint\(|\.tolist\(\)")
"""A call that makes numbers of Python's to compute with, unlike `.item()` of a loss that is logged."""

Place = tuple[str, str, int]
"""A file, a function in it and a line of that function."""


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """Graph breaks. What compiling the parts took is not their cost: without the break the whole is compiled, which
    takes no less. What the parts lose in each call is told without a time.
    """
    rows = dump.rows(GraphBreak)
    after, guards = _rests(dump, rows), Counter(row.graph for row in dump.rows(Guard))
    compiled = {frame.graph for frame in dump.rows(Frame) if frame.status == "compiled"}
    for same in _causes(dump, rows):
        rests = tuple(dict.fromkeys(name for row in same for name in after.get(id(row), ())))
        row = same[0]
        if row.stack and _OPTIMIZER.search(row.stack[-1].file):
            continue
        why = (row.explanation or row.reason.strip().rpartition("\n")[2]).removesuffix(_NO_MESSAGE)
        is_builtin = why.startswith(_BUILTIN)
        hints = "" if is_builtin else _sentences(hint for hint in row.hints if _is_of_use(hint, row.where))
        yield Finding(
            kind=BREAK,
            graph=row.graph,
            what=NOTHING_COMPILED if compiled.isdisjoint((*(row.graph for row in same), *rests)) else WORDS[BREAK].what,
            parts=parts_at(row.where),
            each_call=_loses(
                f"{row.reason} {why}",
                guards[rests[0]] if rests else 0,
                is_split=not compiled.isdisjoint(rests),
                is_on_gpu=dump.run.device != "cpu",
            ),
            why=why.partition(_COMPUTED)[0],
            to_do=hints or WORDS[BREAK_BUILTIN if is_builtin else BREAK].to_do,
            is_torchs=bool(hints),
            instead=_instead(why, row.where) if hints else "",
            names=(row.graph, *rests),
        )


def _loses(why: str, guards: int, *, is_split: bool, is_on_gpu: bool) -> str:
    """What a call loses by a break: whether it waits for the device is in torch's reason."""
    lost = ["Python runs the line"]
    if any(word in why for word in _WAITS):
        lost.append("the host waits for the device" if is_on_gpu else "on a GPU the host would wait for it")
    if is_split:
        lost.append("the operations before and after it cannot be fused, and their values pass through memory")
        lost += [f"{guards:,} guard{'s' * (guards != 1)} of the resume function are checked"] if guards > 1 else []
    return "; ".join(lost)


def _causes(dump: Dump, rows: Iterable[GraphBreak]) -> list[list[GraphBreak]]:
    """Breaks by what made them: where a call broke the function that made it, and then the function that it called,
    which is compiled by itself, these are one.
    """
    called = {row.graph: row.caller for row in dump.rows(Frame)}
    causes: list[list[GraphBreak]] = []
    led: dict[tuple[object, ...], list[GraphBreak]] = {}
    for row in rows:
        stack = [_place(one) for one in row.stack]
        caller = called.get(row.graph)
        by = None if caller is None or not stack else led.get((_line(caller), stack[0], stack[-1], len(stack)))
        if by is None:
            by = []
            causes.append(by)
        by.append(row)
        for index in range(1, len(stack)):
            led.setdefault((_line(row.stack[index - 1]), stack[index], stack[-1], len(stack) - index), by)
    return causes


def _rests(dump: Dump, rows: Iterable[GraphBreak]) -> dict[int, list[str]]:
    """The `id` of each graph break → the compiles of what is left of the functions that it interrupts.

    That is the function that Dynamo names after the interrupted one and the line, and compiles next: a line may be
    interrupted more than once.
    """
    breaks: dict[Place, list[GraphBreak]] = {}
    for row in sorted(rows, key=lambda row: compile_order(row.graph)):
        for place in dict.fromkeys(_place(one) for one in row.stack or ((row.where,) if row.where is not None else ())):
            breaks.setdefault(place, []).append(row)
    rests: dict[int, list[str]] = {}
    for frame in dump.rows(Frame):
        rest = resumed(frame.function)
        by = None if rest is None else _last_before(breaks.get((frame.file, *rest), []), frame.graph)
        if by is not None:
            rests.setdefault(id(by), []).append(frame.graph)
    return rests


def _last_before(rows: list[GraphBreak], compile_id: str) -> GraphBreak | None:
    """The break that led to the compile of a rest: of the last frame that was met before it, and of several compiles of
    that frame the last one without a larger number.
    """
    place = bisect_left(rows, compile_order(frame_id(compile_id)), key=lambda row: compile_order(frame_id(row.graph)))
    if not place:
        return None
    first = bisect_left(rows, compile_order(rows[place - 1].graph)[:2], key=lambda row: compile_order(row.graph)[:2])
    number = compile_order(compile_id)[2:]
    last = bisect_right(rows, number, first, place, key=lambda row: compile_order(row.graph)[2:])
    return rows[max(first, last - 1)]


def _place(where: Location) -> Place:
    rest = resumed(where.function)
    return where.file, where.function if rest is None else rest[0], where.line


def _line(where: Location) -> tuple[str, int]:
    return where.file, where.line


def _is_of_use(hint: str, where: Location | None) -> bool:
    """False for a hint that says nothing, or is about a call which does not stand in the user's own line. In a library
    only a setting can be changed.
    """
    if hint.startswith(_NO_USE) or any(report in hint for report in _REPORTS):
        return False
    if where is not None and is_library(where.file):
        return _SETTING in hint
    called = _CALLED.findall(hint)
    code = "" if where is None else where.code
    return all(name.rpartition(".")[2] in code for name in called)


def _instead(why: str, where: Location | None) -> str:
    """What does without the size, or the number, that torch's setting lets into the graph."""
    code = "" if where is None else where.code
    if _OF_MASK in why and _INDEXED.search(code):
        return WORDS[BREAK_MASK].to_do
    return WORDS[BREAK_NUMBER].to_do if _TO_NUMBER.search(code) else ""


def _sentences(hints: Iterable[str]) -> str:
    """Hints one after the other, each with a full stop."""
    *others, last = [hint.strip() for hint in hints] or [""]
    return " ".join((*(hint if hint.endswith((".", "!")) else f"{hint}." for hint in others), last))
