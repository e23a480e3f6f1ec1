"""Ids that a person looks for, and the everyday questions that lead to them from the top of the page."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.memory.saved import NeededActivation
from inspect_compile.facts import Recompile, Saved
from inspect_compile.knowledge.origins import unknown_text
from inspect_compile.report.compiles import FAILURES
from inspect_compile.report.markup import Markup, element
from inspect_compile.report.places import Places
from inspect_compile.tables.styled_text import StyledLine

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

SAVED: Final = "saved"
MARKS: Final[Mapping[type, str]] = {NeededActivation: SAVED}
"""Type of a row → id of the first table of such rows."""
_SIGN: Final = "▲ "
"""What a finding in short begins with."""
_BREAK: Final = "graph break"
_NUMBER: Final = re.compile(r"\s*(\d+) ")


def _finding(line: StyledLine) -> str | None:
    """The id of the finding that a line begins: its number stands first, dimmed."""
    first = line.spans[0] if line.spans else None
    number = _NUMBER.fullmatch(first.text) if first is not None and first.role == "dim" else None
    return f"finding={number[1]}" if number else None


NUMBERED: Final[Mapping[str, Callable[[StyledLine], str | None]]] = {"findings": _finding}
"""Table → the id of the group that a line of it begins."""


def _findings_in_short() -> Callable[[StyledLine], str | None]:
    """Where the findings are that the overview lists in short: the first ones, in the same order."""
    numbers = itertools.count(1)

    def lead(line: StyledLine) -> str | None:
        begins = any(span.text == _SIGN and span.role == "warn" for span in line.spans[:2])
        return f"#finding={next(numbers)}" if begins else None

    return lead


LEADS: Final[Mapping[str, Callable[[], Callable[[StyledLine], str | None]]]] = {"overview": _findings_in_short}
"""Table → what leads from a line of it to the place that has more."""


def at_breaks(places: Places) -> Callable[[StyledLine], str | None]:
    """The id of the first line of `dynamo` that tells of a graph break at a line of the program."""
    ids = places.of_graph("")

    def id_of(line: StyledLine) -> str | None:
        if not any(span.text.startswith(_BREAK) for span in line.spans[:2]):
            return None
        taken = (ids.take("line", word) for word in line.plain.split() if places.is_break(word))
        return next((place for place in taken if place is not None), None)

    return id_of


def questions(dump: "Dump", *, has_failures: bool) -> Iterator[Markup]:
    """What a person asks first, each with the place that answers it; only those that this run has an answer to."""
    asked = [("What is slow?", "#table-findings"), ("Which kernel does a line go to?", "#code")]
    if dump.rows(Recompile):
        asked.append(("Why was it compiled again?", "#table-dynamo"))
    if has_failures:
        asked.append(("Where did it fail?", f"#{FAILURES}"))
    if dump.rows(Saved) and not unknown_text(dump.run.origin, "memory"):
        asked.append(("What is saved for backward?", f"#{SAVED}"))
    links = (element("li", element("a", words, href=place)) for words, place in asked)
    yield element("ul", *links, class_="questions", aria_label="Common questions")
