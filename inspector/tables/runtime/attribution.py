"""A profile in terms of the program: where the GPU's time went, and what could not be attributed."""

from collections.abc import Iterator, Sequence
from typing import Final

from inspect_compile.analysis.cost.launch_origins import BY, By
from inspect_compile.analysis.runtime.attributed_time import AttributedTime, Unattributed
from inspect_compile.analysis.runtime.attribution import LIKELY, Attribution
from inspect_compile.knowledge.targets.targets import Target
from inspect_compile.profiles import Profile
from inspect_compile.tables.columns import Column
from inspect_compile.tables.cost.cost_text import AT_MOST, TITLES, UNKNOWN, origin_column
from inspect_compile.tables.parts import limited
from inspect_compile.tables.runtime.measured import rate_text
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, joined, styled
from inspect_compile.tables.text import multiple_text, number_of, one_line, share_text, time_text


def _bandwidth(row: AttributedTime) -> str:
    if row.bytes is None or row.bandwidth_share is None:
        return ""
    return AT_MOST * bool(row.unsure) + share_text(row.bandwidth_share, 0)


def _rate(row: AttributedTime) -> str:
    if row.bytes is None:
        return UNKNOWN
    rate = row.bytes / row.microseconds / 1e3 if row.bytes and row.microseconds else None
    return rate_text(rate, is_unsure=bool(row.unsure))


def _flops(row: AttributedTime) -> str:
    return multiple_text(row.flops / (row.microseconds / 1e6), "") if row.flops and row.microseconds else ""


_FIGURES: Final[tuple[Column[AttributedTime], ...]] = (
    Column("time", lambda row: time_text(row.microseconds / 1e6), right=True),
    Column("share", lambda row: share_text(row.share, 1), role="dim", right=True),
    Column("runs", lambda row: f"{row.runs:,}", right=True),
    Column("each", lambda row: time_text(row.microseconds / row.runs / 1e6), right=True, drop=1),
    Column("GB/s", _rate, right=True, drop=2),
    Column("of roof", _bandwidth, right=True, optional=True, drop=3),
    Column("FLOP/s", _flops, right=True, optional=True, drop=4),
    Column("of peak", lambda row: share_text(row.flops_share, 0), right=True, optional=True, drop=4),
)


def _what(by: By) -> Column[AttributedTime]:
    return origin_column(TITLES[by], lambda row: row.by, lambda row: row.what, lambda row: row.lines, least=20)


COLUMNS: Final = {by: (_what(by), *_FIGURES) for by in BY}
UNATTRIBUTED: Final[tuple[Column[Unattributed], ...]] = (
    Column("time", lambda row: time_text(row.microseconds / 1e6), right=True),
    Column("runs", lambda row: f"{row.runs:,}", right=True),
    Column("kernel", lambda row: one_line(row.name), role="name", stretch=True, least=24, most=60, middle=True),
    Column("reason", lambda row: one_line(row.reason), stretch=True, least=24, most=200, wraps=True),
)


def attribution(
    found: Attribution,
    profile: Profile,
    sums: dict[By, list[AttributedTime]],
    left: Sequence[Unattributed],
    device: Target | None,
    limit: int | None,
) -> Block:
    """The summary, one table for each of `sums`, and what was not attributed."""
    parts: list[Block] = [Stack(_head(found, profile, device), gap=False)]
    for by, rows in sums.items() if found.seconds_joined else ():
        parts.append(limited(COLUMNS[by], rows, limit, "--all"))
    if left:
        parts.append(limited(UNATTRIBUTED, left, limit, "--all", title=styled("Not attributed", "strong")))
    return Stack(parts)


def _head(found: Attribution, profile: Profile, device: Target | None) -> Iterator[StyledLine]:
    runs = sum(run.count for run in found.runs)
    pairs = list(zip(found.runs, found.joined, strict=True))
    attributed = sum(run.count for run, own in pairs if own.is_joined)
    share = share_text(found.seconds_joined / found.seconds if found.seconds else 0.0, 1)
    calls = f"{number_of(found.calls, 'call')} of compiled graphs   " if found.calls else ""
    words = f"   {number_of(runs, 'run')}   {calls}{one_line(profile.device)}"
    yield joined((profile.tool, "strong"), (words.rstrip(), "dim"))
    coverage = f" {attributed:,} of {runs:,} runs attributed"
    yield joined((coverage, "good" if attributed == runs else "warn"), f", {share} of {time_text(found.seconds)}")
    yield from (styled(f" {line}", "warn") for line in _cautions(found, profile))
    if device is not None:
        yield styled(f" Roof: {device.gpu}, {device.bandwidth / 1e9:,.0f} GB/s ({device.source})", "dim")
    elif profile.runs:
        yield styled(f" No roof: the figures of {one_line(profile.device) or 'the device'} are not known", "dim")


def _cautions(found: Attribution, profile: Profile) -> Iterator[str]:
    """What is not certain, and what the profile does not have."""
    likely = sum(run.count for run, own in zip(found.runs, found.joined, strict=True) if own.confidence == LIKELY)
    if likely:
        yield f"{likely:,} of them by their order alone, or by differing names: likely, not certain"
    for name, other in list(found.other_names.items())[:3]:
        yield f"the profile has {one_line(name)} where the dump has {one_line(other)}: another release of torch"
    if found.unseen:
        kernels = number_of(len(found.unseen), "C++ kernel")
        how = "torch.profiler records them with torch._inductor.config.cpp.enable_kernel_profile"
        yield f"{kernels} of these graphs left no event: {how}"
    if profile.whole_graphs:
        replays = number_of(profile.whole_graphs, "replay")
        yield f"{replays} of CUDA graphs are in it as a whole: nsys profile --cuda-graph-trace=node shows their kernels"
    if profile.damaged:
        yield f"{number_of(profile.damaged, 'event')} of the file could not be read"
    if profile.is_cut_off:
        yield "the file ends in the middle of an event: later events are not in these sums"
