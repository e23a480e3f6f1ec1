"""fusion.txt: what was fused, what was refused and why, attempt by attempt."""

from inspect_compile.analysis.cost.schedule_rows import fused_rows
from inspect_compile.analysis.fusion.ledger import candidates
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.dump import Dump
from inspect_compile.tables.columns import text_lines
from inspect_compile.tables.fusion.fusion import ATTEMPTS, MISSES, REFUSALS
from inspect_compile.tables.fusion.why_text import left_out_lines, order_words
from inspect_compile.tables.schedule import GROUPS
from inspect_compile.tables.text import clean, number_of

_MOST_MISSES = 40


def fusion_text(dump: Dump, graph: str) -> str:
    """The whole text for one outermost graph."""
    found = fusion(dump, graph)
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in found.verdicts.items()) or "no pair was tried"
    lines = [graph, f"{number_of(found.rounds, 'round')}: {told}", ""]
    if found.refusals:
        lines += [*text_lines(REFUSALS, found.refusals), ""]
    lines += [
        "After fusion, in the order of the generated code",
        *text_lines(GROUPS, fused_rows(dump, graph), indent="  "),
        "",
    ]
    if found.misses:
        lines += [f"Apart although they share bytes, {order_words(found.misses)}"]
        lines += text_lines(MISSES, found.misses[:_MOST_MISSES], indent="  ")
        if len(found.misses) > _MOST_MISSES:
            lines.append(f"  and {number_of(len(found.misses) - _MOST_MISSES, 'more', 'more')}")
        lines += [*(f"  {line}" for line in left_out_lines(found.left_out)), ""]
    lines += ["Every attempt", *(text_lines(ATTEMPTS, candidates(dump, graph), indent="  ") or ["  none"])]
    return clean("\n".join(lines) + "\n")
