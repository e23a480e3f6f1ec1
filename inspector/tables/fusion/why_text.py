"""Texts about a pair, shared by terminal, TUI and files."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.fusion.pair_choice import is_other_block
from inspect_compile.graph import few
from inspect_compile.knowledge.fusion.reasons import UNKNOWN, by_code, words_of
from inspect_compile.tables.columns import Cell, cell
from inspect_compile.tables.styled_text import StyledLine, joined, styled
from inspect_compile.tables.text import OF, byte_text, clean, number_of, one_line, place_parts, place_text

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.misses import LeftOut, Miss
    from inspect_compile.analysis.fusion.pair_story import PairStory
    from inspect_compile.analysis.fusion.part import FindingSite
    from inspect_compile.facts import Location
    from inspect_compile.graph.fusion.dependencies import Between
    from inspect_compile.graph.fusion.ledger import Candidate
    from inspect_compile.graph.indexing.difference import Difference

_MOST_BUFFERS: Final = 3
_MOST_BETWEEN: Final = 4
_BETWEEN: Final = "intermediate-nodes"
_UNFUSABLE: Final = "unfusable"
"""Code of a pair with a library call: no kernel is generated that could hold both."""
_NO_COMMON: Final = "no-common-buffer"
_BOTH: Final = 2
_KINDS: Final = ("two launches", "two loops of one launch", "library calls")
OUTCOMES: Final = {
    "together": "fused",
    "inlined": "one operation",
    "one-kernel": "two loops of one kernel",
    "apart": "not fused",
    "same": "the same",
}
"""Outcome → a word for a list of pairs."""
_NOT_ASKED: Final = "torch did not check whether one kernel would be correct"
_LEGALITY: Final = {
    "allowed": "one kernel for both would be correct, but was not expected to pay off",
    "free": f"{_NOT_ASKED}; by the recorded dependencies nothing must run between",
    "unchecked": f"{_NOT_ASKED}, and the dump has no dependencies to check it",
    "other-index": f"{_NOT_ASKED}; one reads what the other writes at another index, so it may be wrong",
}
_NOT_CHECKED: Final = "not checked: whether one kernel for both would be correct"
_ELSE: Final = {
    "free": "by the recorded dependencies nothing must run between the two; torch's other conditions are not checked",
    "unchecked": f"{_NOT_CHECKED}: the dump does not record dependencies",
    "other-index": f"{_NOT_CHECKED}: one reads what the other writes at another index",
}
"""Legality where something else than profit decided, and torch may have asked for a part of it."""
_ORDERS: Final = {
    "transposed": "both use {}, but read it in different orders",
    "offset": "both use {}, but from different starts",
    "broadcast": "both use {}, but one repeats its elements (broadcast)",
    "tiling": "both use {}, but one reads it as a reshape of a transposed or shifted tensor",
    "sizes": "both use {}, but not the same number of its elements",
    "unknown": "both use {}, but in different orders, judging by the indices",
}
"""By the kind of difference: why torch finds nothing in common in what the two do with one buffer."""
_SHARING: Final = ("no-shared-data", "indexing-mismatch")
_ABOUT: Final = {
    "legality": "This is about correctness: in one kernel they would compute something else, or in the wrong order",
    "profit": "This is about gain, not correctness",
    "backend": "This is the code generator: it cannot put both into one kernel",
    "never tried": "The pair was never considered",
}


def verdict_line(story: "PairStory") -> StyledLine:
    """Whether the two are together or apart, why, and what that costs."""
    decisive = story.decisive
    match story.outcome:
        case "same":
            return styled("Both names mean the same operation.")
        case "inlined":
            return styled(f"{_inlined(story)}{_elsewhere(story)}", "good")
        case "together":
            since = f" since round {decisive.round}" if decisive is not None else ""
            saved = f", which saves {byte_text(story.common.saved)}" if story.common.saved else ""
            sentence = f"Fused: one scheduler node{since}, {clean(story.a.group)}{saved}.{_elsewhere(story)}"
            return styled(sentence, "good")
        case "one-kernel":
            loops = f"Both are in {clean(story.a.kernel)}, as two loops of one launch"
            sentence = f"{loops}, not fused: {because(story)}.{_elsewhere(story)}{_cost(story)}"
            return styled(sentence, "warn")
        case _:
            return styled(f"Not fused: {because(story)}.{_cost(story)}", "bad")


def _inlined(story: "PairStory") -> str:
    """``Both are in cpp_fused_add_sum_0: op0 computes `add` and `sum_1` in one loop.``"""
    a, b = story.a, story.b
    kernel = f"Both are in {clean(a.kernel)}" if a.kernel else "Both are in one operation"
    nodes = [one_line(name) for name in dict.fromkeys((a.node, b.node)) if name]
    what = "computes both" if len(nodes) < _BOTH else f"computes `{nodes[0]}` and `{nodes[1]}` in one loop"
    return f"{kernel}: {clean(a.operation)} {what}."


def _elsewhere(story: "PairStory") -> str:
    """What else is to be known of two that are in one kernel: their blocks, and kernels that compute parts again."""
    a, b = story.a, story.b
    sentences = []
    if is_other_block(a.module, b.module):
        blocks = f"{clean(a.operation if a.operation != b.operation else a.node)} is of {clean(a.module)}"
        sentences.append(
            f"{blocks}, {clean(b.operation if a.operation != b.operation else b.node)} of {clean(b.module)}."
        )
    for one in story.again:
        nodes = few([f"`{one_line(name)}`" for name in one.nodes], _MOST_BUFFERS)
        kernels = few([clean(name) for name in one.kernels], _MOST_BUFFERS)
        sentences.append(f"{nodes} {'is' if len(one.nodes) == 1 else 'are'} computed again in {kernels}.")
    return "".join(f" {words}" for words in sentences)


def because(story: "PairStory") -> str:
    """The decisive reason, with its numbers."""
    decisive = story.decisive
    if decisive is None:
        return "they were never in the same round of the scheduler"
    words = _orders(story) or (story.reason.meaning.rstrip(".") if story.reason else one_line(decisive.reason))
    if decisive.code == _NO_COMMON and story.two_names:
        words = "torch tries only pairs that use one buffer by one name"
    if decisive.code == _UNFUSABLE:
        words = _not_generated(story)
    if decisive.won:
        words = f"it was allowed, and {clean(decisive.won)} came first"
    numbers = ", ".join(number_words(decisive))
    if decisive.code == _BETWEEN and story.between:
        path = path_text(story.a.group, story.between, story.b.group)
        return f"{between_text(story.between)} must run between the two: {path}"
    return f"{words} ({numbers})" if numbers else words or decisive.verdict


def _not_generated(story: "PairStory") -> str:
    """`op1 is a result of a library call, op3 is a library call (topk): torch fuses only code that it generates`."""
    clauses = []
    for side in (story.a, story.b):
        if side.kind == "extern":
            call = f"a library call ({one_line(side.node)})" if side.kernel else "a result of a library call"
            clauses.append(f"{clean(side.operation)} is {call}")
        elif side.kind == "nop":
            clauses.append(f"{clean(side.operation)} runs no code")
    return f"{', '.join(clauses)}: torch fuses only code that it generates"


def _orders(story: "PairStory") -> str:
    """How differently the two go over the buffer that they share most of; empty if something else decided."""
    if story.reason is None or story.reason.code not in _SHARING or not story.common.buffers:
        return ""
    most = story.common.buffers[0]
    kinds = (_ORDERS[row.kind] for row in story.differences if row.buffer == most and row.kind in _ORDERS)
    return next(kinds, "").format(clean(most))


def between_text(between: "tuple[Between, ...]") -> str:
    """`convolution_backward · resnet.py:10 (op58)`; of several the first library call, if any, and the number
    of others.
    """
    first = next((one for one in between if one.kind == "extern"), between[0])
    what = operator_text(first.operator, first.where)
    words = f"{what} ({clean(first.name)})" if what else clean(first.name)
    left = len(between) - 1
    return words + (f" and {left} more" if left else "")


def operator_text(operator: str, where: "Location | None") -> str:
    """`softmax · model.py:9`."""
    return OF.join(part for part in (one_line(operator), place_text(where)) if part)


def part_cell(part: "FindingSite") -> Cell:
    """The same, with what is a library's dimmed."""
    operator, (own, below) = one_line(part.operator), place_parts(part.where)
    first = OF.join(word for word in (operator, own) if word)
    return (*cell(first), *cell(below, "dim"))


def names_text(miss: "Miss") -> str:
    """torch's names of the pair, and of what it shares: `op10_op11, op12: buf9`."""
    return f"{clean(miss.a)}, {clean(miss.b)}: {few([clean(name) for name in miss.buffers], _MOST_BUFFERS, ' ')}"


def _also(between: "tuple[Between, ...]", one: str = "one kernel") -> str:
    """What stands between may do nothing at run time, like a concatenation whose parts are written in their place."""
    is_run = any(node.kind != "nop" for node in between)
    wrong = f"{one} would also be wrong" if is_run else f"torch would also refuse {one} for both"
    return f"{wrong}: {_stands(between)}"


def _stands(between: "tuple[Between, ...]") -> str:
    return f"{between_text(between)} must run between"


def path_text(a: str, between: "Sequence[Between]", b: str) -> str:
    """`op54 → op58 → op70`."""
    names = [clean(one.name) for one in between]
    if len(names) > _MOST_BETWEEN:
        names = [*names[: _MOST_BETWEEN - 1], "…", names[-1]]
    return " → ".join((clean(a), *names, clean(b)))


def between_lines(story: "PairStory") -> Iterator[StyledLine]:
    """Each scheduler node that must run between the two, with what it does and its line, in order."""
    if story.outcome in ("together", "inlined", "same"):
        return
    for one in story.between[:_MOST_BETWEEN]:
        what = operator_text(one.operator, one.where)
        code = one_line(one.where.code) if one.where is not None else ""
        words = "   ".join(word for word in (what, code) if word)
        yield styled(f"  between: {clean(one.name)}   {words}".rstrip(), "warn")
    if len(story.between) > _MOST_BETWEEN:
        yield styled(f"  between: {number_of(len(story.between) - _MOST_BETWEEN, 'more node')}", "dim")


def miss_text(miss: "Miss") -> str:
    """Why the two are apart: what must run between them, or the reason, and whether one kernel would be correct."""
    if miss.code == _BETWEEN and miss.between:
        path = path_text(miss.a, miss.between, miss.b)
        return f"{between_text(miss.between)} must run between: {path}"
    words = words_of(miss.code) or one_line(miss.reason) or UNKNOWN
    if miss.between:
        return f"{words}; {_also(miss.between)}"
    reason = by_code(miss.code)
    is_decided = miss.is_checked or miss.code == _UNFUSABLE or (reason is not None and reason.about == "legality")
    return words if is_decided else f"{words}; not checked whether one kernel would be correct"


def apart_text(miss: "Miss") -> str:
    """The same, preceded by how close they still are."""
    return f"two loops of one launch; {miss_text(miss)}" if miss.one_kernel else miss_text(miss)


def order_text(misses: "Sequence[Miss]") -> str:
    """In which order pairs are listed: of each kind the most expensive first, and what cannot save a launch after what
    can.
    """
    kinds = sorted({2 if miss.code == _UNFUSABLE else int(miss.one_kernel) for miss in misses})
    return ", then ".join(("most expensive first", *(_KINDS[kind] for kind in kinds[1:])))


def left_out_lines(rows: "list[LeftOut]") -> Iterator[str]:
    """Of which buffers not all pairs are listed."""
    for row in rows[:_MOST_BUFFERS]:
        others = f"each is compared with the next {row.window}, its writer with all"
        yield f"{clean(row.buffer)} is touched by {row.nodes:,} scheduler nodes: {others}"
    if len(rows) > _MOST_BUFFERS:
        yield f"{number_of(len(rows) - _MOST_BUFFERS, 'more buffer')} whose pairs are not all listed"


def saved_text(miss: "Miss") -> str:
    """`262 kB`, or `≤ 262 kB` if it depends on values."""
    return ("≤ " if miss.is_unsure else "") + byte_text(miss.saved_bytes)


def score_text(miss: "Miss") -> str:
    """torch's score of the pair; empty if it was not computed."""
    return "" if miss.shared_bytes is None else byte_text(miss.shared_bytes)


def number_words(row: "Candidate") -> Iterator[str]:
    """`distance 70`, `limit 64`."""
    for name, value in row.numbers:
        yield f"{clean(name)} {value:,}" if isinstance(value, int) else f"{clean(name)} {clean(value)}"


def _cost(story: "PairStory") -> str:
    common = story.common
    only_written = {one.a for one in story.two_names if not one.is_read}
    buffers = [name for name in common.buffers if name in common.handed or name not in only_written]
    if not buffers:
        return _two_names(story)
    shown = buffers[:_MOST_BUFFERS]
    handed = " ".join(name for name in shown if name in common.handed)
    read = " ".join(name for name in shown if name not in common.handed)
    clauses = []
    if handed:
        clauses.append(f"{story.a.operation} hands {story.b.operation} {clean(handed)}")
    if read:
        clauses.append(f"{'both' if clauses else 'Both'} read {clean(read)}")
    what = ", and ".join(clauses)
    if left := len(buffers) - len(shown):
        what += f" and {left} more"
    most = "up to " if story.saved.is_unsure else ""
    saved = byte_text(story.saved.saved)
    less = f": one kernel for both could move {most}{saved} less" if story.saved.saved else ""
    if story.saved.saved and story.outcome == "one-kernel":
        less = f": a fused loop would not touch {most}{saved} again"
    return f" {what}{less}."


def _two_names(story: "PairStory") -> str:
    """`op0 writes buf0, and op3 reads buf2: one memory, or a part of it, by two names.`"""
    if not story.two_names:
        return " No buffer is touched by both."
    clauses = []
    for one in story.two_names[:_MOST_BUFFERS]:
        first = f"{story.a.operation} {'writes' if one.is_written else 'reads'} {clean(one.a)}"
        clauses.append(f"{first}, and {story.b.operation} {'reads' if one.is_read else 'writes'} {clean(one.b)}")
    left = len(story.two_names) - len(clauses)
    return f" {'; '.join(clauses)}{f' and {left} more' if left else ''}: one memory, or a part of it, by two names."


def _with_legality(story: "PairStory", words: str) -> str:
    """Something else decided; whether it would be right too is another question, which torch may not have come to."""
    is_profit = story.reason is not None and story.reason.about == "profit"
    if story.legality == "illegal":
        begins = "This is about gain, but" if is_profit else f"{words};"
        path = path_text(story.a.group, story.between, story.b.group)
        one = "one loop" if story.outcome == "one-kernel" else "one kernel"
        return f"{begins} {_also(story.between, one)}: {path}"
    legality = (_LEGALITY if is_profit else _ELSE).get(story.legality)
    return words if legality is None else f"{words}: {legality}" if is_profit else f"{words}; {legality}"


def attempt_text(row: "Candidate") -> str:
    """What came of an attempt: the resulting node, what came first, or why it was refused."""
    if row.into or row.won or row.milliseconds:
        return round_text(row)
    if row.code and by_code(row.code) is None:
        return f"{one_line(row.reason)} ({UNKNOWN})"
    words = [words_of(row.code) or one_line(row.reason), ", ".join(number_words(row))]
    if row.arguments and not row.numbers:
        words.append(one_line(row.reason))
    return "   ".join(word for word in words if word)


def round_text(row: "Candidate") -> str:
    """What follows a verdict: the result, what came first, the numbers, the parts of torch's score."""
    words: list[str] = []
    if row.into:
        words.append(f"→ {row.into}")
    if row.won:
        words.append(f"{row.won} came first")
    if row.milliseconds:
        words.append(f"measured {', '.join(f'{value:.4f} ms' for value in row.milliseconds)} (a, b, both)")
    words += number_words(row)
    if row.score is not None:
        place = f", tried as number {row.rank}" if row.rank else ""
        parts = [part.removesuffix("_score").replace("_", " ") for part in row.score_parts] or [""] * len(row.score)
        scores = ", ".join(f"{part} {value:,}".strip() for part, value in zip(parts, row.score, strict=False))
        words.append(f"score: {scores}{place}")
    elif row.shared_bytes is not None:
        words.append(f"torch's score {row.shared_bytes:,} B")
    if row.arguments and not row.numbers:
        words.append(one_line(row.reason))
    return clean("   ".join(words))


def difference_lines(story: "PairStory") -> Iterator[StyledLine]:
    """For each buffer the two accesses below each other, with the differences marked, and what they mean."""
    for row in story.differences:
        yield from _difference(row, story.a.operation, story.b.operation)
    if story.decisive is not None and story.decisive.more and not story.differences:
        yield styled(f"  torch says: {one_line(story.decisive.more)}", "dim")


def _difference(row: "Difference", a: str, b: str) -> Iterator[StyledLine]:
    width = max(len(a), len(b))
    for name, access, marks in ((a, row.a, row.a_marks), (b, row.b, row.b_marks)):
        before = f"  {clean(name):{width}}  {clean(row.buffer)}"
        if access.index is None:
            yield joined(f"{before}, all of it", is_aligned=True)
            continue
        yield joined(f"{before}[ {clean(access.index)} ]   {clean(', '.join(access.ranges))}", is_aligned=True)
        marked = [" "] * len(access.index)
        for start, end in marks:
            marked[start:end] = "^" * (end - start)
        if marks:
            yield joined((f"{' ' * len(before)}  {''.join(marked).rstrip()}", "warn"), is_aligned=True)
    yield styled(f"  {one_line(row.words)}", "warn")


def advice_lines(story: "PairStory") -> Iterator[StyledLine]:
    """Correctness or gain, the setting, and what to change in the program."""
    decisive, reason = story.decisive, story.reason
    if decisive is not None and decisive.code and reason is None:
        words = f"inspect-compile does not know this reason; torch's words: {one_line(decisive.reason)}"
        yield styled(_with_legality(story, words), "warn")
    if story.outcome in ("together", "inlined", "same") or reason is None:
        return
    words = _ABOUT.get(reason.about, "")
    if story.outcome == "one-kernel":
        words = words.replace("into one kernel", "into one loop")
    if reason.about != "legality" and reason.code != _UNFUSABLE:
        words = _with_legality(story, words)
    if story.legality == "illegal" and reason.about != "legality" and reason.code != _UNFUSABLE:
        between = by_code(_BETWEEN)
        yield styled(f"{words}; no setting for fusion changes that.")
        if between is not None:
            yield styled(f"In the program: {between.advice}.")
        return
    yield styled(f"{words}.")
    if reason.advice and (story.common.buffers or reason.code not in _SHARING):
        yield styled(f"In the program: {reason.advice}.")
    if story.knobs:
        yield styled(f"{'Setting' if len(story.knobs) == 1 else 'Settings'}: {', '.join(story.knobs)}")
