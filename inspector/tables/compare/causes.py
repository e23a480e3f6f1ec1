"""Why two compiles differ, for `diff`: a short block for each cause, the user's line first."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from inspect_compile.analysis.compare.causes.records import Cause
from inspect_compile.facts import Location
from inspect_compile.graph import few, short
from inspect_compile.tables.styled_text import Block, Claim, Stack, joined, styled
from inspect_compile.tables.text import byte_text, multiple_text, number_of, one_line, time_text

LINES: Final = 3
"""Maximum number of lines of each side, unless all are requested."""
LEVELS: Final = {
    "source": "source",
    "dynamo": "Dynamo",
    "aot": "AOTAutograd",
    "partition": "partitioner",
    "not known": "level not known",
    **{name: name.upper() for name in ("ttir", "ttgir", "llir", "ptx", "sass", "isa")},
}
"""How a level is written, where that is another word."""
_KERNELS: Final = 2


def causes(rows: Sequence[Cause], *, limit: int | None) -> Block:
    """A block for each cause; with `limit` at most so many, and of each side at most LINES lines."""
    shown = rows if limit is None else rows[:limit]
    parts: list[Block] = [Stack(block(row, None if limit is None else LINES), gap=False) for row in shown]
    if len(shown) < len(rows):
        parts.append(styled(f" … {number_of(len(rows) - len(shown), 'more cause')}", "dim"))
    return Stack(parts)


def block(row: Cause, most: int | None) -> Iterator[Block]:
    """Line of the user, level and sentence, cost, then what either side has."""
    yield joined((" ▲ ", "warn"), (cause_place_text(row.where), "strong"), is_cut=True)
    yield Claim(joined("   ", (f"{level_text(row)}  ", "accent"), one_line(row.message)))
    cost = " · ".join(cost_words(row))
    if cost:
        yield Claim(joined("   ", (cost, "strong")))
    for words in shared_words(row):
        yield joined(("   shared  ", "dim"), words, is_cut=True)
    for setting in row.settings[:most]:
        yield joined(("   setting  ", "dim"), one_line(setting), is_cut=True)
    for name, lines in ((row.a_name, row.a), (row.b_name, row.b)):
        for line in lines if most is None else lines[:most]:
            yield joined((f"   {one_line(name)}  ", "dim"), one_line(line), is_cut=True)
        if most is not None and len(lines) > most:
            yield styled(f"   {one_line(name)}  … {number_of(len(lines) - most, 'more line')}", "dim")
    kernels = [few(list(names), _KERNELS) for names in (row.kernels_a, row.kernels_b) if names]
    if kernels:
        yield joined(("   kernels  ", "dim"), one_line(" → ".join(dict.fromkeys(kernels))), is_cut=True)


def cause_place_text(where: Location | None) -> str:
    """`model.py:14  h = F.relu(h)`."""
    if where is None:
        return "no line of the program is known"
    return "  ".join(one_line(word) for word in (short(where), where.code) if word)


def level_text(row: Cause) -> str:
    """The level, as torch's users write it."""
    return one_line(LEVELS.get(row.level, row.level))


def cost_words(row: Cause) -> Iterator[str]:
    """How each figure that differs went from one side to the other: `bytes 98.3 kB → 147 kB (+49.2 kB)`."""
    a, b = row.cost_a, row.cost_b
    if None not in (a.measured, b.measured) and (a.launches or b.launches):
        yield _went("time", a.measured or 0.0, b.measured or 0.0, time_text)
    figures: tuple[tuple[str, int | None, int | None, Callable[[int], str]], ...] = (
        ("launches", a.launches, b.launches, "{:,}".format),
        ("bytes", a.bytes, b.bytes, byte_text),
        ("computes", a.flops, b.flops, _flops),
        ("registers", a.registers, b.registers, "{:,}".format),
        ("spilled bytes", a.spills, b.spills, "{:,}".format),
    )
    same = True
    for name, old, new, words in figures:
        if old != new and old is not None and new is not None:
            same = False
            yield _went(name, old, new, words)
    if same and a.launches:
        yield f"{number_of(a.launches, 'launch', 'launches')}, {byte_text(a.bytes)}: unchanged"


def shared_words(row: Cause) -> Iterator[str]:
    """Where the cost of kernels is counted that differ for other causes, too."""
    if row.counted_with:
        yield f"these kernels also differ for {one_line(row.counted_with)}, where their cost is counted"
    elif row.shared_with:
        others = one_line(few(row.shared_with, _KERNELS))
        yield f"some of these kernels differ for {others}, too; their cost is counted once, with the earliest level"


def _flops(count: int) -> str:
    return multiple_text(count, "FLOP")


def _went(name: str, old: float, new: float, words: Callable[..., str]) -> str:
    sign = "+" if new >= old else "−"
    return f"{name} {words(old)} → {words(new)} ({sign}{words(abs(new - old))})"
