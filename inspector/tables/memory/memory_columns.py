"""The columns of a replay's steps, of the pieces of memory, and of what the backward keeps."""

from typing import Final

from inspect_compile.analysis.memory.holders import Holder
from inspect_compile.analysis.memory.replay import MemoryStep
from inspect_compile.analysis.memory.saved import Kept
from inspect_compile.tables.columns import Cell, Column, Span, cell
from inspect_compile.tables.memory.memory_words import why_kept
from inspect_compile.tables.text import place_text, share_text

_BAR: Final = 16


def _buffer(step: MemoryStep) -> Cell:
    name = step.buffer or step.kernel or ""
    return cell(f"{name} ← {step.of}" if step.of is not None else name, "name" if step.change else "")


def _change(step: MemoryStep) -> Cell:
    return cell(f"{step.change:+,}", "warn" if step.change > 0 else "good") if step.change else ()


def _share(step: MemoryStep) -> Cell:
    bar = cell("█" * round(_BAR * step.share), "warn" if step.is_peak else "bar")
    return (*bar, Span(" peak", "warn")) if step.is_peak else bar


STEPS: Final[tuple[Column[MemoryStep], ...]] = (
    Column("line", lambda step: str(step.line or ""), role="dim", right=True),
    Column("what", lambda step: step.what, role="dim", drop=1),
    Column("buffer", _buffer, stretch=True, least=12, most=60, middle=True),
    Column("change", _change, right=True, drop=2),
    Column("live", lambda step: cell(f"{step.live:,}", "strong" if step.is_peak else ""), right=True),
    Column("of the peak", _share, drop=3),
)
HELD: Final[tuple[Column[Holder], ...]] = (
    Column("bytes", lambda row: f"{row.bytes:,}", right=True),
    Column("share", lambda row: "" if row.share is None else share_text(row.share), right=True, optional=True, drop=4),
    Column("buffer", lambda row: row.named, role="name", stretch=True, least=6, most=60, middle=True),
    Column("lines", lambda row: row.span, drop=1),
    Column("node", lambda row: row.node, role="dim", stretch=True, least=8, most=40, middle=True, drop=3),
    Column("where", lambda row: place_text(row.where), role="dim", stretch=True, least=8, most=40, middle=True, drop=2),
)
KEPT: Final[tuple[Column[Kept], ...]] = (
    Column(
        "bytes",
        lambda row: "" if row.bytes is None else cell(f"{row.bytes:,}", "dim" if row.of else ""),
        right=True,
    ),
    Column("decision", lambda row: cell(row.decision, "accent" if row.decision == "saved" else "dim"), drop=1),
    Column("node", lambda row: row.node, role="name", stretch=True, least=8, most=50, middle=True),
    Column("where", lambda row: place_text(row.where), role="dim", stretch=True, least=8, most=40, middle=True, drop=2),
    Column("reason", why_kept, role="dim", stretch=True, least=14, most=120, wraps=True),
)
