"""What torch's autotuning chose from: a sheet for each tuned operation and kernel, and the words for a decision."""

from collections.abc import Iterable, Iterator
from typing import Final

from inspect_compile.analysis.kernels.autotuning import Autotuned, Option, autotuned
from inspect_compile.facts import Choice, Chosen, Tuning
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.parts import DeclaredTable, Request, command, each, limited, recorded, title
from inspect_compile.tables.styled_text import Block, Stack, Table, indented, joined
from inspect_compile.tables.text import byte_text, number_of, one_line, seconds_text, share_text

_BY = {
    "time": "it is the fastest of them",
    "descent": "found by trying configurations next to the best one",
    "sequential": "its parts were tried one after the other",
    "fusion": "chosen for what could be fused with it",
    "scheduler": "chosen by the scheduler, after all fusions",
    "remembered": "from an earlier run, in which torch measured it",
    "rule": "chosen by a rule, nothing was measured",
}


def milliseconds_text(milliseconds: float) -> str:
    """`12 µs`."""
    is_short = milliseconds < 1
    return f"{milliseconds * (1000 if is_short else 1):.3g} {'µs' if is_short else 'ms'}"


def time_text(row: Option) -> str:
    """`12 µs`, `12 µs cached`; otherwise why there is no time."""
    if row.milliseconds is None and row.source == "cached":
        return "in an earlier run"
    if row.milliseconds is None:
        return one_line(row.why) if row.why else "not measured"
    return milliseconds_text(row.milliseconds) + (" cached" if row.source == "cached" else "")


def option_text(row: Option) -> str:
    """`BLOCK_M=64 num_warps=4 ACC_TYPE=tl.float32`: what differs between the candidates first."""
    found = sorted(row.config.items(), key=lambda item: "BLOCK" not in item[0] and not item[0].startswith("num_"))
    return one_line(" ".join(f"{name}={value}" for name, value in found))


def question_text(row: Autotuned) -> str:
    """`mm of float32[16, 64], float32[64, 32]  op0  for node mm`."""
    if row.about == "kernel":
        return f"configurations of {row.kernel or row.name}"
    words = [f"{row.name} of {', '.join(row.inputs)}" if row.inputs else row.name, row.operation, " ".join(row.nodes)]
    return "  ".join(word for word in words if word)


def margin_text(row: Autotuned) -> str:
    """`5 choices, measured in 3.7 s; the next best takes 1.20×, the slowest 8.40× as long`."""
    text = f"{_choices(row)}, {row.source}"
    if row.seconds is not None:
        text += f" in {seconds_text(row.seconds)}{', some in a separate process' if row.in_worker else ''}"
    if row.margin is not None and row.spread is not None:
        text += f"; the next best takes {row.margin:.2f}×, the slowest {row.spread:.2f}× as long"
    return text


def outcome_text(row: Autotuned) -> Iterator[str]:
    """Sentences: what torch took and why, whether the generated code runs that, and which candidates failed."""
    if row.winner:
        is_first = row.by == "descent" and not any(option.is_winner and option.step for option in row.choices)
        sentence = f"{row.winner}: {'no neighbour is faster' if is_first else _BY.get(row.by, row.by)}"
        if row.margin is not None and row.margin < 1:
            sentence += ", though another one was measured faster"
        yield sentence
    elif row.source == "not measured":
        yield "none was measured, so the fastest is not known"
    if row.runs is False:
        yield f"the generated code does not run it: {row.kernel} is there instead"
    elif row.runs and row.about == "operation":
        yield f"the generated code runs it: {row.kernel}"
    if row.failed:
        yield f"{row.failed} of {_choices(row)} could not be run"
    if row.spilled:
        yield f"{row.spilled} of {_choices(row)} spill registers"


def _choices(row: Autotuned) -> str:
    return number_of(_count(row), "choice")


def _count(row: Autotuned) -> int:
    """Number of candidates; some are measured in several steps."""
    return len({option.label for option in row.choices})


def summary_text(rows: Iterable[Autotuned]) -> str:
    """`tuned: 2 operations, 1 kernel; 3.7 s spent on benchmarking`; empty if nothing was tuned."""
    found = list(rows)
    if not found:
        return ""
    counts = [
        number_of(count, word)
        for word, about in (("operation", "operation"), ("kernel", "kernel"))
        if (count := sum(row.about == about for row in found))
    ]
    text = f"tuned: {', '.join(counts)}, {number_of(sum(_count(row) for row in found), 'choice')}"
    seconds = sum(row.seconds or 0.0 for row in found)
    if seconds:
        return f"{text}; {seconds_text(seconds)} spent on benchmarking"
    sources = {row.source for row in found}
    return f"{text}; {'not measured' if sources == {'not measured'} else 'from an earlier run'}"


def _tried(row: Option, text: str) -> Cell:
    return cell(text, "good" if row.is_winner else "" if row.milliseconds is not None else "dim")


def _spills(row: Option) -> Cell:
    return () if row.spills is None else cell(byte_text(row.spills), "warn" if row.spills else "")


COLUMNS: Final[tuple[Column[Option], ...]] = (
    Column("chosen", lambda row: "✓" if row.is_winner else "", role="good"),
    Column("choice", lambda row: _tried(row, one_line(f"{row.label} {row.step}".rstrip())), stretch=True, least=20),
    Column("kind", lambda row: row.kind, drop=2),
    Column("time", lambda row: _tried(row, time_text(row)), right=True, stretch=True, least=16, most=40, middle=True),
    Column("slowdown", lambda row: "" if row.times is None else f"{row.times:.2f}×", right=True),
    Column(
        "registers", lambda row: "" if row.registers is None else str(row.registers), right=True, optional=True, drop=4
    ),
    Column("spills", _spills, right=True, optional=True, drop=4),
    Column(
        "occupancy",
        lambda row: share_text(row.occupancy, 0),
        right=True,
        optional=True,
        drop=5,
    ),
    Column("configuration", option_text, stretch=True, least=16, most=80, drop=3, optional=True),
)
"""The choices of one decision, for the terminal and the app."""


def autotune(request: Request) -> Stack:
    """The sheets, each with a limited number of candidates."""
    parts: list[Block] = []
    for found in request.graphs:
        sheets = request.kept(autotuned(found))
        words = [number_of(len(sheets), "decision") if sheets else "nothing was autotuned"]
        if sheets and (seconds := sum(row.seconds or 0.0 for row in sheets)):
            words.append(f"{seconds_text(seconds)} spent on benchmarking")
        if request.names and not sheets:
            words = [f"nothing autotuned concerns {' and '.join(request.names)}"]
        parts.append(title(found, *words))
        parts += [sheet(row, request.limit, request.dump_argument) for row in sheets]
    return request.stacked(parts)


def sheet(row: Autotuned, limit: int | None, dump_argument: str) -> Table[Option]:
    """The sheet of one tuning decision, with at most `limit` candidates."""
    every = command(dump_argument, "autotune", row.kernel or row.name, "--all")
    head = joined((one_line(question_text(row)), "strong"), is_cut=True)
    notes = indented((margin_text(row), *outcome_text(row)))
    return limited(COLUMNS, row.choices, limit, every, title=head, notes=notes)


TABLE: Final = DeclaredTable(autotune, each(autotuned), recorded(Tuning, Choice, Chosen))
