"""What a setting would do to a pair of operations, in a few lines."""

from collections.abc import Iterator

from inspect_compile.analysis.compare.replays import Counts
from inspect_compile.analysis.compare.what_if import Tried
from inspect_compile.knowledge.fusion.knob_values import by_name
from inspect_compile.tables.parts import command
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, joined, styled
from inspect_compile.tables.text import byte_text, number_of, one_line

_MOST = 3
"""Maximum number of other groups that are named."""


def what_if(found: Tried, dump_argument: str = "") -> Block:
    """The answer first; then costs, what else changed, and how to set it. `dump_argument` is the dump as the user typed
    it.
    """
    return Stack(_lines(found, dump_argument), gap=False)


def _lines(found: Tried, dump_argument: str) -> Iterator[Block]:
    setting = f"{found.knob}={found.value}"
    pair = f"{'_'.join(found.a)} and {'_'.join(found.b)}"
    if found.failure:
        yield joined((f"{one_line(setting)}  ", "strong"), (one_line(f"was not tried: {found.failure}"), "bad"))
        return
    yield joined((f"{one_line(setting)}  ", "strong"), _answer(found, one_line(pair)))
    if found.same_code:
        yield styled("  the generated code is the same: this setting changes nothing here", "dim")
        return
    if found.before is not None and found.after is not None:
        yield joined("  whole graph  ", one_line(_costs(found.before, found.after)))
    for word, groups in (("also fused", found.came_together), ("also apart", found.came_apart)):
        if groups:
            listed = ", ".join(" × ".join(names) for names in groups[:_MOST])
            more = f" … {number_of(len(groups) - _MOST, 'more group')}" if len(groups) > _MOST else ""
            yield joined(f"  {word}   ", one_line(listed + more))
    if found.fused or found.one_kernel:
        knob = by_name(found.knob)
        effect = f"   allows {knob.effect}" if knob is not None else ""
        yield joined("  set it  ", (f"torch._inductor.config.{one_line(setting)}", "accent"), (effect, "dim"))
    if found.replay is not None:
        again = command(f"{dump_argument} --replay {found.replay}", "fusion")
        yield styled(f"  inspect-compile {one_line(again)}", "accent")


def _answer(found: Tried, pair: str) -> StyledLine:
    if found.fused and found.fused_before:
        return joined(f"{pair} were fused already, and still are")
    if found.fused:
        return joined((f"fuses {pair}", "good"), f", in {one_line(', '.join(found.kernels))}")
    if found.fused_before:
        return joined((f"separates {pair}", "bad"))
    if found.one_kernel and not found.one_kernel_before:
        return joined(
            (f"puts {pair} into one kernel", "good"), f", {one_line(', '.join(found.kernels))}, not one group"
        )
    return joined((f"does not fuse {pair}", "warn"))


def _costs(before: Counts, after: Counts) -> str:
    counts = (("kernels", before.kernels, after.kernels), ("groups", before.groups, after.groups))
    words = [
        f"{name} {was} → {now}" if was is not None and was != now else f"{now} {name}"
        for name, was, now in counts
        if now is not None
    ]
    for name, was, now in (
        ("reads", before.read_bytes, after.read_bytes),
        ("writes", before.written_bytes, after.written_bytes),
    ):
        if now is None:
            continue
        change = ""
        if was is not None and was != now:
            change = f" ({byte_text(abs(now - was))} {'less' if now < was else 'more'})"
        words.append(f"{name} {byte_text(now)}{change}")
    return ", ".join(words)
