"""A check's report for people."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.contracts.report import Report, line_of, path_of, sentences
from inspect_compile.tables.text import number_of, one_line

_MOST: Final = 20


def text(report: Report, *, is_complete: bool = False) -> str:
    """Each change with its line, cause and rule; those that follow from others are counted only."""
    return "\n".join(_lines(report, is_complete)) + "\n"


def _lines(report: Report, is_complete: bool) -> Iterator[str]:
    if not report.changes:
        held = f"{number_of(report.graphs, 'graph')}, {number_of(report.rules, 'rule')}"
        yield f"{one_line(report.lock)}: nothing differs that the contract fixes ({held})"
        yield from (f"  {one_line(note)}" for note in report.notes)
        return
    shown = report.changes if is_complete else report.primary[:_MOST]
    yield f"{one_line(report.lock)}: {number_of(len(report.primary), 'difference')}"
    for change in shown:
        yield ""
        first, *more = sentences(change)
        yield f" ▲ {first}"
        if place := path_of(change, report.root):
            code = one_line(change.where.code) if change.where is not None else ""
            yield f"     {place}:{line_of(change)}" + (f"  {code}" if code else "")
        yield from (f"     {line}" for line in more)
        yield f"     rule: {one_line(change.rule)}"
    left = len(report.primary) - len([one for one in shown if not one.follows])
    if left > 0:
        yield f"\n … {number_of(left, 'more difference')}; --all prints all"
    if report.following and not is_complete:
        follows = "follows" if report.following == 1 else "follow"
        yield f"\n {number_of(report.following, 'further difference')} {follows} from these; --all prints them"
    if report.notes:
        yield ""
        yield from (f" {one_line(note)}" for note in report.notes)
