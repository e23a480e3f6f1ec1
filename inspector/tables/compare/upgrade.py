"""What another environment does to a program, on one page that ends in what to do."""

from collections.abc import Iterator, Sequence
from typing import Final

from inspect_compile.analysis.compare.call_times import BACKWARD, CHECKS, ENTRY, MEMORY, REST
from inspect_compile.analysis.compare.causes.records import Cause
from inspect_compile.analysis.compare.proof import Proof
from inspect_compile.analysis.compare.upgrade import LIBRARY, SAME, Assigned, Share, Upgrade, UpgradePart
from inspect_compile.graph import few
from inspect_compile.knowledge.fusion.reasons import by_code
from inspect_compile.tables.columns import Column
from inspect_compile.tables.compare.causes import cause_place_text, cost_words, level_text
from inspect_compile.tables.styled_text import Block, Claim, Stack, Table, joined, styled
from inspect_compile.tables.text import byte_text, number_of, one_line, time_text

PARTS: Final = 4
_KINDS: Final = 8
CAUSES: Final = 3
"""Causes that are told, two lines each: the page has at most 40 lines."""
_SETTINGS: Final = 4
_VERSIONS: Final = 3
_SMALL: Final = 0.02
"""Share of the time below which a difference is none."""

COLUMNS: Final[tuple[Column[Share], ...]] = (
    Column("where the difference comes from", lambda row: row.kind, stretch=True, least=24),
    Column("share", lambda row: "" if row.share is None else _percent(row.share), right=True, optional=True),
    Column("time", lambda row: "" if row.seconds is None else _signed_time(row.seconds), right=True, optional=True),
    Column("", lambda row: "noise" if row.is_noise else "", optional=True),
    Column("bytes", lambda row: _signed(byte_text(abs(row.bytes)), row.bytes), right=True),
    Column("launches", lambda row: _signed(f"{abs(row.launches):,}", row.launches), right=True),
    Column("causes", lambda row: f"{row.causes:,}" if row.causes else "", right=True),
)


def page(found: Assigned, old: str, new: str, proved: Proof | None = None) -> Block:
    """The page; `old` and `new` are the dumps as a person types them."""
    whole = found.whole
    changed = list(whole.versions.items())
    versions = ", ".join(f"{name} {one_line(words)}" for name, words in changed[:_VERSIONS])
    head = [styled(f"What changed: {versions or 'no version'}", "strong"), *_figures(whole)]
    parts: list[Block] = [Stack(head, gap=False)]
    if rows := _table(found.shares):
        parts.append(Table(COLUMNS, rows))
    if launches := list(_parts(found)):
        parts.append(Stack([styled("launches whose time differs most", "strong"), *launches], gap=False))
    if found.causes:
        parts.append(Stack(_causes(found.causes), gap=False))
    if proved is not None:
        parts.append(Stack(_proof(proved), gap=False))
    parts.append(Stack([styled("What to do", "strong"), *_advice(found, old, new)], gap=False))
    return Stack(parts)


def _table(shares: Sequence[Share]) -> list[Share]:
    """The kinds that are told by themselves: those with causes, and the largest; the others are one row."""
    shares = [row for row in shares if row.seconds is not None or row.causes or row.bytes or row.launches]
    if len(shares) <= _KINDS:
        return list(shares)
    order = sorted(shares, key=lambda row: not (row.causes or row.bytes or row.launches))
    shown, left = order[: _KINDS - 1], order[_KINDS - 1 :]
    seconds = [row.seconds for row in left if row.seconds is not None]
    parts = [row.share for row in left if row.share is not None]
    others = Share(
        kind=f"{len(left)} others",
        seconds=sum(seconds) if seconds else None,
        share=sum(parts) if parts else None,
        is_noise=all(row.is_noise for row in left),
        bytes=sum(row.bytes for row in left),
        launches=sum(row.launches for row in left),
        causes=sum(row.causes for row in left),
    )
    return [*(row for row in shares if row in shown), others]


def _figures(found: Upgrade) -> Iterator[Block]:
    before, after = found.seconds
    if before is not None and after is not None:
        percent = f"{abs(after / before - 1):.0%}" if before else "0%"
        share = f", {_signed(percent, after - before)}" if percent != "0%" else ""
        yield styled(
            f"  time of one call of each graph  {time_text(before)} → {time_text(after)} "
            f"({_signed_time(after - before)}{share})"
        )
        whole = " and ".join(time_text(one or 0.0) for one in found.fastest)
        yield styled(
            f"  that is the sum of the shortest time of each part; the fastest whole calls took {whole}", "dim"
        )
        yield _noise(found)
    else:
        yield styled("  time: not measured (a graph has to be called at least twice, without --target)")
    old, new = found.bytes
    launches = f"{found.launches[0]:,} → {found.launches[1]:,} launches"
    yield styled(f"  kernels move  {byte_text(old)} → {byte_text(new)} in {launches}")
    yield styled(f"  peak memory of a graph  {byte_text(found.peak[0])} → {byte_text(found.peak[1])}")
    if found.graphs[0] != found.graphs[1]:
        yield styled(f"  graphs  {found.graphs[0]:,} → {found.graphs[1]:,}", "bad")


def _noise(whole: Upgrade) -> Block:
    if whole.is_noise is None:
        return styled("  one run of each: the noise is not known (--runs 3)", "dim")
    spreads = " and ".join(time_text(one or 0.0) for one in whole.spread)
    of = f"{whole.runs} runs of each, apart by {spreads}"
    if whole.is_noise:
        return styled(f"  no difference in time beyond noise: the runs overlap ({of})", "good")
    return styled(f"  more than noise: all runs of one are faster than all runs of the other ({of})", "dim")


def _parts(found: Assigned) -> Iterator[Block]:
    for part in found.parts[:PARTS]:
        old, new = part.seconds
        if abs(new - old) >= _SMALL * abs((found.whole.seconds[1] or 0.0) - (found.whole.seconds[0] or 0.0)):
            yield joined("  ", (_part_text(part), ""), ("  ", ""), (f"{part.kind}", "dim"), is_cut=True)


def _part_text(part: UpgradePart) -> str:
    names = " → ".join(dict.fromkeys(one_line(name) or "nothing" for name in part.names))
    counts = "×" + " → ".join(dict.fromkeys(f"{count:,}" for count in part.launches))
    old, new = part.seconds
    return f"{_signed_time(new - old)}  {names} {counts}  {time_text(old)} → {time_text(new)}"


def _causes(causes: tuple[Cause, ...]) -> Iterator[Block]:
    yield styled(f"{number_of(len(causes), 'cause')}, the most expensive first", "strong")
    for cause in causes[:CAUSES]:
        yield joined((" ▲ ", "warn"), (cause_place_text(cause.where), "strong"), is_cut=True)
        cost = " · ".join(list(cost_words(cause))[:2])
        words = f"   {level_text(cause)}: {one_line(cause.message)}"
        yield joined(words if len(words) <= 100 else f"{words[:99]}…", ("  ", ""), (cost, "strong"), is_cut=True)


def _proof(proved: Proof) -> Iterator[Block]:
    if not proved.settings:
        yield styled("Swapped back: nothing; no setting that affects generated code has another default")
        return
    names = [f"{name.removeprefix('_inductor.')} {words}" for name, words in proved.settings.items()]
    yield Claim(joined(("Swapped back: ", "strong"), one_line(few(names, _SETTINGS))))
    total = len(proved.gone) + proved.left
    gone = f"{len(proved.gone)} of {number_of(total, 'cause')} gone" if total else ""
    labels = f": {one_line(few(proved.gone, _SETTINGS))}" if proved.gone else ""
    time = "" if proved.seconds is None else f"new takes {time_text(proved.seconds)} with that"
    back = "" if proved.back is None else f", {proved.back:.0%} of the difference came back"
    yield Claim(styled(f"  {'; '.join(filter(None, (time + back, gone)))}{labels}"))


def _advice(found: Assigned, old: str, new: str) -> Iterator[Block]:
    """What to do about what costs most, then where everything is."""
    before, after = found.whole.seconds
    largest = next(iter(found.shares), None)
    is_small = found.whole.is_noise or (before and after is not None and abs(after - before) < _SMALL * before)
    is_timed = largest is not None and largest.seconds is not None and not is_small
    if not found.causes:
        same = "both environments compile the same"
        yield styled(f"  Nothing about the generated code: {same}." if is_timed else f"  Nothing: {same}.")
    elif is_small:
        yield styled("  Time: the same within 2 %, or within noise.")
    if largest is not None and is_timed and largest.kind in _OF_KIND:
        yield styled(f"  {_OF_KIND[largest.kind]}")
    costly = [one for one in found.causes if (before is not None and not is_small) or _costs(one)]
    if found.causes and not costly and before is None:
        yield styled("  Nothing with a known cost: no more bytes, launches, registers or spills; not timed.")
    for cause in costly[:2]:
        yield Claim(joined("  ", (f"{cause_place_text(cause.where)}: ", "dim"), one_line(_of_cause(cause))))
    yield Claim(styled("  Everything, with both sides:"), f"inspect-compile diff {old} {new}")


def _costs(cause: Cause) -> bool:
    """Does it move more bytes, launch more, or need more of a GPU's registers, whatever that takes here?"""
    old, new = cause.cost_a, cause.cost_b
    more = (new.registers or 0) > (old.registers or 0) or (new.spills or 0) > (old.spills or 0)
    return more or new.bytes > old.bytes or new.launches > old.launches


_OF_KIND: Final = {
    SAME: "Mostly the same code at another speed: noise, or another C++ compiler or Triton; measure again (--runs 5).",
    LIBRARY: "Mostly in calls of libraries (BLAS, oneDNN, cuDNN): compare their versions and threads.",
    MEMORY: "Mostly allocating and freeing: compare the allocators, and peak memory with show memory.",
    CHECKS: "Mostly checks of sizes and strides: torch._inductor.config.size_asserts = False turns them off.",
    REST: "Mostly Python between launches: use fewer, larger kernels, or a C++ wrapper (cpp_wrapper).",
    ENTRY: "Mostly before the generated code: guards and wrappers; see show guards and show artifacts of both.",
    BACKWARD: "Mostly between forward and backward: the loss, autograd, and the program's own code there.",
}


def _of_cause(cause: Cause) -> str:
    """What can be done about one cause."""
    if cause.settings:
        return f"a setting differs ({cause.settings[0]}): set it back"
    if cause.level == "fusion":
        reason = by_code(cause.what)
        if reason is not None and reason.knob:
            return f"try replay --config {reason.knob}=…: {reason.advice}"
        return reason.advice if reason is not None and reason.advice else "ask `why` about the two in the new dump"
    return _OF_LEVEL.get(cause.level, "nothing in the dumps says why; look at both kernels with diff --stage source")


_BY_STAGE: Final = "report it to Triton, with the two texts of diff --stage"
_OF_LEVEL: Final = {
    "source": "the program, or a library that it calls, differs: compare their versions",
    "dynamo": "Dynamo traces this line differently: compare graph breaks, recompiles and inputs with show dynamo",
    "aot": "another decomposition: register the old one, or report it to PyTorch with both lists of operators",
    "partition": "other values are saved for the backward: see torch._functorch.config.activation_memory_budget",
    "pass": "a pass does something else: report it to PyTorch with its name, or disable it by its setting",
    "lowering": "the operator is lowered differently: report it to PyTorch with both dumps",
    "realize": "other limits decide which values get a buffer: try replay --config realize_opcount_threshold=…",
    "autotune": "another choice won: tune again on an idle machine, or pin the choice",
    "tiling": "the loops are tiled differently: try replay --config with the tiling settings",
    "codegen": "Inductor writes other code for the same loops: report it with diff --stage source",
    "library": "another library function: report it, or choose the old one with its setting",
    **dict.fromkeys(("ttir", "ttgir", "llir", "ptx", "amdgcn", "sass", "isa"), _BY_STAGE),
}


def _signed(words: str, number: float) -> str:
    return f"{'−' if number < 0 else '+'}{words}" if number else "0"


def _signed_time(seconds: float) -> str:
    return f"{'−' if seconds < 0 else '+'}{time_text(abs(seconds))}"


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("-", "−")
