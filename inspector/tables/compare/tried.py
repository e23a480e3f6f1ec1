"""What `tune` tried: the program as it is, and a row for each change."""

from typing import Final

from inspect_compile.analysis.compare.tried import changes_tried, tried_rows, tuned_of
from inspect_compile.facts import TriedChange, Tuned
from inspect_compile.facts.trials import FAILED, KEPT, NOT_COMPARED, NUMBERS, PRECISION
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.parts import DeclaredTable, Request
from inspect_compile.tables.styled_text import Block, Stack, Table, styled
from inspect_compile.tables.text import byte_text, file_name, number_of, one_line, seconds_text, time_text

_ROLES: Final = {KEPT: "good", NUMBERS: "bad", FAILED: "bad"}
_FIRST: Final = (KEPT, PRECISION, NOT_COMPARED)


def gain_text(part: float | None, plus_minus: float | None, pairs: int = 2) -> str:
    """`−12.4 ± 0.6 %` of a step's time; of a single pair without the interval."""
    if part is None:
        return ""
    sign = "+" if part < 0 else "−"
    interval = f" ± {100 * plus_minus:.1f}" if plus_minus is not None and pairs > 1 else ""
    return f"{sign}{abs(100 * part):.1f}{interval} %"


def _gain(row: TriedChange) -> Cell:
    return cell(gain_text(row.gain, row.plus_minus, row.pairs), _ROLES.get(row.outcome, ""))


COLUMNS: Final[tuple[Column[TriedChange], ...]] = (
    Column(
        "promised",
        lambda row: "" if row.predicted is None else f"≤ {100 * row.predicted:.0f} %",
        role="dim",
        right=True,
        optional=True,
    ),
    Column("step", _gain, right=True),
    Column("change", lambda row: one_line(row.words), role="name", stretch=True, least=24, most=90),
    Column("where", lambda row: where_text(row), optional=True),
    Column("outcome", lambda row: cell(row.outcome, _ROLES.get(row.outcome, ""))),
    Column("numbers", lambda row: one_line(row.numbers), stretch=True, most=100, optional=True),
    Column(
        "memory", lambda row: byte_text(row.peak_bytes) if row.peak_bytes else "", right=True, optional=True, drop=2
    ),
    Column(
        "compile",
        lambda row: seconds_text(row.compile_seconds) if row.compile_seconds else "",
        right=True,
        drop=1,
        optional=True,
    ),
    Column("why", lambda row: one_line(row.why), stretch=True, most=120, optional=True),
)


def where_text(row: TriedChange) -> str:
    """The lines that a change is about: `train.py:31`."""
    places = row.places
    return " ".join(f"{file_name(place.file)}:{place.line}" for place in places[:3]) + (" …" if len(places) > 3 else "")


def baseline_text(seconds: float, noise: float, runs: int, eager: float | None) -> str:
    """`baseline 12.4 ms a step (4 runs), noise ±0.9 %; eager 15.1 ms`."""
    beside = f"; eager {time_text(eager)}" if eager is not None else ""
    return f"baseline {time_text(seconds)} a step ({number_of(runs, 'run')}), noise ±{100 * noise:.1f} %{beside}"


def tried(request: Request) -> Block:
    """The changes, those that help first."""
    tuned, rows = tuned_of(request.dump), changes_tried(request.dump)
    if tuned is None:
        return Stack(
            [
                styled("Nothing was tried on this program. To try:"),
                styled("   inspect-compile tune SCRIPT", "accent"),
            ],
            gap=False,
        )
    step = tuned.step
    title = f"{step.what} {step.name} at {file_name(step.where.file)}:{step.where.line}, on {tuned.device}"
    parts: list[Block] = [
        Stack(
            [styled(title, "strong"), styled(baseline_text(tuned.seconds, tuned.noise, tuned.runs, tuned.eager))],
            gap=False,
        )
    ]
    if rows:
        parts.append(Table(COLUMNS, sorted(rows, key=_order)[: request.limit]))
    parts.append(styled(verdict_text(tuned, rows), "strong"))
    return Stack(parts)


def verdict_text(tuned: Tuned, rows: list[TriedChange]) -> str:
    """The last line: what all kept changes bring together, or that nothing does."""
    ended = " (interrupted)" if tuned.is_interrupted else ""
    if tuned.together is not None and not tuned.is_confirmed:
        measured = gain_text(tuned.together, tuned.plus_minus)
        return f"together {measured} of a step when measured again: no gain, and no patch{ended}"
    if tuned.together is not None:
        patch = f"   git apply {tuned.patch}" if tuned.patch else ""
        return f"together {gain_text(tuned.together, tuned.plus_minus)} of a step{ended}{patch}"
    if tuned.is_baseline and tuned.eager is not None:
        return f"{_beside_eager(tuned.seconds, tuned.eager, tuned.noise)}{ended}"
    if not rows:
        return f"Nothing was tried: measuring the program as it is took all the time; allow more with --minutes{ended}"
    return f"No gain above {100 * tuned.noise:.1f} %: {number_of(len(rows), 'change')} tried{ended}"


def _beside_eager(compiled: float, eager: float, noise: float) -> str:
    saved = 1 - compiled / eager
    if abs(saved) <= noise:
        return f"With and without torch.compile a step takes the same, within {100 * noise:.1f} %"
    if saved < 0:
        return f"A step takes {100 * -saved:.1f} % longer with torch.compile than without"
    return f"torch.compile saves {100 * saved:.1f} % of a step"


def _order(row: TriedChange) -> tuple[int, float]:
    rank = _FIRST.index(row.outcome) if row.outcome in _FIRST else len(_FIRST)
    return rank, -(row.gain or -9.0)


TABLE: Final = DeclaredTable(tried, tried_rows)
