"""A profile in terms of the program: where the GPU's time went, and what could not be attributed."""

from collections.abc import Sequence
from typing import Final

from rich.console import RenderableType

from inspect_compile.analysis.cost.launch_origins import By
from inspect_compile.analysis.runtime.attributed_time import AttributedTime, Unattributed
from inspect_compile.analysis.runtime.attribution import LIKELY, Attribution
from inspect_compile.knowledge.targets.targets import Target
from inspect_compile.profiles import Profile
from inspect_compile.tables.cost.moved_text import AT_MOST, UNKNOWN
from inspect_compile.tables.runtime.measured import rate_text
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import file_name, multiple_text, number_of, one_line, time_text

_TITLES: Final[dict[By, str]] = {"line": "line", "module": "module", "kernel": "kernel", "op": "operators"}
_REST: Final = (
    Column("time", right=True),
    Column("", right=True),
    Column("runs", right=True),
    Column("each", right=True),
)
_MORE: Final = (
    Column("GB/s", right=True, least=80),
    Column("of roof", right=True, least=80),
    Column("FLOP/s", right=True, least=110),
    Column("of peak", right=True, least=110),
)
_ROOF: Final = frozenset({"of roof", "of peak"})
_UNKNOWN: Final = (
    Column("time", right=True),
    Column("runs", right=True),
    Column("kernel", cap=0.35),
    Column("why", flex=True, wraps=True),
)


def attribution(
    found: Attribution,
    profile: Profile,
    sums: dict[By, list[AttributedTime]],
    left: Sequence[Unattributed],
    device: Target | None,
    limit: int | None,
) -> RenderableType:
    """The summary, one table for each of `sums`, and what was not attributed."""
    parts: list[RenderableType] = [Stack(list(_head(found, profile, device)), gap=False)]
    for by, rows in sums.items() if found.seconds_joined else ():
        rates = [column for column in _MORE if device is not None or column.title not in _ROOF]
        columns = (Column(_TITLES[by], cap=0.5, flex=True), *_REST, *rates)
        shown = rows if limit is None else rows[:limit]
        notes: list[Cell] = []
        if len(rows) > len(shown):
            notes.append(styled(f"… {number_of(len(rows) - len(shown), 'more row')}: --all", "dim"))
        parts.append(Sheet(columns, [_cells(row, has_roof=device is not None) for row in shown], notes=notes))
    if left:
        shown_left = left if limit is None else left[:limit]
        more = (
            [styled(f"… {number_of(len(left) - len(shown_left), 'more')}: --all", "dim")]
            if len(left) > len(shown_left)
            else []
        )
        rows_left: list[list[Cell]] = [
            [time_text(row.microseconds / 1e6), f"{row.runs:,}", one_line(row.name), styled(one_line(row.reason))]
            for row in shown_left
        ]
        parts.append(Sheet(_UNKNOWN, rows_left, title=styled("Not attributed", "bold"), notes=more))
    return Stack(parts)


def _head(found: Attribution, profile: Profile, device: Target | None) -> list[Cell]:
    runs = sum(run.count for run in found.runs)
    pairs = list(zip(found.runs, found.joined, strict=True))
    attributed = sum(run.count for run, own in pairs if own.is_joined)
    share = found.seconds_joined / found.seconds if found.seconds else 0.0
    calls = f"{number_of(found.calls, 'call')} of compiled graphs   " if found.calls else ""
    words = f"   {number_of(runs, 'run')}   {calls}{one_line(profile.device)}"
    lines: list[Cell] = [
        joined((f"{profile.tool}", "bold"), (words.rstrip(), "dim")),
        joined(
            (f" {attributed:,} of {runs:,} runs attributed", "green" if attributed == runs else "yellow"),
            f", {share:.1%} of {time_text(found.seconds)}".replace("%", " %"),
        ),
    ]
    likely = sum(run.count for run, own in pairs if own.confidence == LIKELY)
    if likely:
        lines.append(
            styled(f" {likely:,} of them by their order alone, or by names that differ: likely, not certain", "yellow")
        )
    for name, other in list(found.other_names.items())[:3]:
        told = f" {one_line(name)} stands where the dump has {one_line(other)}: another release of torch"
        lines.append(styled(told, "yellow"))
    if found.unseen:
        told = (
            f" {number_of(len(found.unseen), 'C++ kernel')} of these graphs left no event: torch.profiler records them"
        )
        lines.append(styled(f"{told} with torch._inductor.config.cpp.enable_kernel_profile", "yellow"))
    if profile.whole_graphs:
        replays = number_of(profile.whole_graphs, "replay")
        told = f" {replays} of CUDA graphs are in it as a whole: nsys profile --cuda-graph-trace=node has their kernels"
        lines.append(styled(told, "yellow"))
    if profile.damaged:
        lines.append(styled(f" {number_of(profile.damaged, 'event')} of the file could not be read", "yellow"))
    if device is None and profile.runs:
        what = one_line(profile.device) or "the device"
        lines.append(styled(f" No roof: the figures of {what} are not known", "dim"))
    elif device is not None:
        lines.append(styled(f" Roof: {device.gpu}, {device.bandwidth / 1e9:,.0f} GB/s ({device.source})", "dim"))
    return lines


def _cells(row: AttributedTime, *, has_roof: bool) -> list[Cell]:
    seconds = row.microseconds / 1e6
    at_most = AT_MOST * bool(row.unsure)
    roof = [_percent(row.bandwidth_share if row.bytes else None, at_most)] if has_roof else []
    peak = [_percent(row.flops_share)] if has_roof else []
    return [
        _what(row),
        time_text(row.microseconds / 1e6),
        f"{row.share:.1%}".replace("%", " %"),
        f"{row.runs:,}",
        time_text(row.microseconds / row.runs / 1e6),
        _rate(row, seconds),
        *roof,
        multiple_text(row.flops / seconds, "") if row.flops and seconds else "",
        *peak,
    ]


def _rate(row: AttributedTime, seconds: float) -> str:
    """GB/s."""
    if row.bytes is None:
        return UNKNOWN
    return rate_text(row.bytes / seconds / 1e9 if row.bytes and seconds else None, is_unsure=bool(row.unsure))


def _what(row: AttributedTime) -> str:
    if row.by == "line":
        files: dict[str, list[str]] = {}
        for place in row.what:
            path, colon, number = place.rpartition(":")
            if not colon:
                return place  # without a source line
            files.setdefault(file_name(path), []).append(number)
        return "  ".join(f"{name}:{' '.join(numbers)}" for name, numbers in files.items()) or "(no line)"
    if row.by == "module":
        return " ".join(name or "(top)" for name in row.what) or "(none)"
    return " ".join(name.removeprefix("aten.") if row.by == "op" else name for name in row.what) or "(none)"


def _percent(share: float | None, at_most: str = "") -> str:
    return "" if share is None else f"{at_most}{share:.0%}".replace("%", " %")
