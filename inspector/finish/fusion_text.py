"""fusion.txt: what was fused, what was refused and why, attempt by attempt."""

from collections.abc import Iterator

from inspect_compile.analysis.fusion.ledger import Candidate, candidates
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.dump import Dump
from inspect_compile.knowledge.fusion.reasons import UNKNOWN, words_of
from inspect_compile.tables.fusion.why_text import left_out_lines, miss_words, order_words
from inspect_compile.tables.text import clean, columns, number_of, one_line

_MOST_MISSES = 40


def fusion_text(dump: Dump, graph: str) -> str:
    """The whole text for one outermost graph."""
    found = fusion(dump, graph)
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in found.verdicts.items()) or "no pair was tried"
    lines = [graph, f"{number_of(found.rounds, 'round')}: {told}", ""]
    if found.codes:
        lines += ["Refused for"]
        lines += columns(
            [(f"  {code}", f"{count:,}", words_of(code) or UNKNOWN) for code, count in found.codes.items()],
            right=frozenset({1}),
        )
        lines.append("")
    lines += ["After fusion, in the order of the generated code"]
    lines += columns(
        [
            (f"  {group.name}", group.kind, group.kernel, " ".join(group.nodes))
            for group in found.groups
        ]
    )  # fmt: skip
    lines.append("")
    if found.misses:
        lines += [f"Apart although they share bytes, {order_words(found.misses)}", *_misses(found.misses)]
        lines += [*(f"  {line}" for line in left_out_lines(found.left_out)), ""]
    lines += ["Every attempt"]
    lines += list(_attempts(candidates(dump, graph))) or ["  none"]
    return clean("\n".join(lines) + "\n")


def _misses(misses: list[Miss]) -> Iterator[str]:
    yield from columns(
        [
            ("  could save", "torch's score", "a", "b", "because", "", "buffers", ""),
            *(
                (
                    f"  {'≤ ' if miss.is_unsure else ''}{miss.saved_bytes:,} B",
                    "" if miss.shared_bytes is None else f"{miss.shared_bytes:,} B",
                    miss.a,
                    miss.b,
                    miss.code,
                    "two loops of one launch" if miss.one_kernel else "",
                    " ".join(miss.buffers[:4]),
                    miss_words(miss) if miss.between else "",
                )
                for miss in misses[:_MOST_MISSES]
            ),
        ],
        right=frozenset({0, 1}),
    )
    if len(misses) > _MOST_MISSES:
        yield f"  and {number_of(len(misses) - _MOST_MISSES, 'more', 'more')}"


def _attempts(attempts: list[Candidate]) -> Iterator[str]:
    rows = [
        (
            f"  {attempt.round}",
            attempt.a,
            attempt.b,
            attempt.verdict,
            attempt.code,
            "" if attempt.shared_bytes is None else f"{attempt.shared_bytes:,} B",
            _outcome(attempt),
        )
        for attempt in attempts
    ]
    if rows:
        yield from columns([("  round", "a", "b", "verdict", "code", "torch's score", ""), *rows], right=frozenset({5}))


def _outcome(attempt: Candidate) -> str:
    if attempt.into and not attempt.reason:
        score = " ".join(str(part) for part in attempt.score or ())
        return f"→ {attempt.into}" + (f"   score {score}" if score else "")
    return one_line(attempt.reason) + (f": {attempt.won}" if attempt.won else "")
