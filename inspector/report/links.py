"""Text of a table or a sentence as HTML: a link at each name that has a place in the page, and commands in full."""

import re
import shlex
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from inspect_compile.report.markup import Markup, element, escaped, joined
from inspect_compile.report.places import Places
from inspect_compile.tables.columns import Span

PROGRAM: Final = "inspect-compile"
COMMANDS: Final = ("show", "why", "open", "draw", "diff", "run", "replay", "name", "numerics", "doctor", "tune")
"""Words that a command of ours begins with where the program's name is left out."""
NODE_COLUMNS: Final = frozenset(
    {
        "node",
        "nodes",
        "reads",
        "while lowering",
        "needed by",
        "read by",
        "used by",
        "first",
        "second",
        "name",
        "by node",
    }
)
"""Titles of columns in which a word that is a node's name means the node: elsewhere `add` is a word."""
NOT_LINKED: Final = frozenset({"code", "IR", "key", "guard", "value"})
"""Titles of columns with text of the program's or of torch's."""
_WORD: Final = re.compile(r"[^\s,;()\[\]|×+]+")
_CODE: Final = re.compile(r"`([^`\n]{1,200})`")


class Links:
    """What names in the page lead to. `dump` is how its commands name the dump; `tables` are those of the page."""

    def __init__(self, places: Places | None = None, dump: str = "", tables: Iterable[str] = ()) -> None:
        self._places = places or Places()
        self._dump = dump.partition(" --")[0]
        self._tables = frozenset(tables)

    def graph(self, text: str) -> str:
        """The graph that a text names; empty if it names none."""
        name = text.strip()
        return name if self._places.place("graph", name) else ""

    def text(self, text: str, graph: str = "", *, column: str = "") -> Markup:
        """`text`, escaped, its names as links. `graph` is the one that is spoken of where it stands."""
        if column in NOT_LINKED:
            return breakable(text)
        has_nodes = column in NODE_COLUMNS
        parts: list[str] = []
        end = 0
        for found in _WORD.finditer(text):
            word = found[0].rstrip(":.,")
            place = self._place(word, graph, has_nodes=has_nodes)
            if place is not None:
                parts += (
                    breakable(text[end : found.start()]),
                    Markup(f'<a href="{escaped(place)}">{breakable(word)}</a>'),
                )
                end = found.start() + len(word)
        return joined(*parts, breakable(text[end:])) if parts else breakable(text)

    def _place(self, word: str, graph: str, *, has_nodes: bool) -> str | None:
        places = self._places
        if has_nodes and (found := places.link("node", word, graph)):
            return found
        if "/" in word and (found := places.link("compile", word)):
            return found
        if ":" in word and (found := places.link("line", word, graph) or places.link("line", word)):
            return found
        if "_" in word or "." in word:
            return places.link("graph", word) or places.link("kernel", word, graph)
        return None

    def prose(self, text: str, graph: str = "") -> Markup:
        """A sentence: its names as links, and what stands in backticks as code."""
        parts: list[str] = []
        end = 0
        for found in _CODE.finditer(text):
            parts += (self.text(text[end : found.start()], graph), self.command(found[1]) or element("code", found[1]))
            end = found.end()
        return joined(*parts, self.text(text[end:], graph)) if parts else self.text(text, graph)

    def is_command(self, span: Span) -> bool:
        """Whether a piece of a line is a command of ours."""
        return span.role == "accent" and _is_command(span.text.strip())

    def command(self, text: str) -> Markup | None:
        """`show d findings` as the whole line that a person copies, leading to the table if the page has it; None if it
        is no command.
        """
        words = text.strip()
        if not _is_command(words):
            return None
        line = words if words.startswith(PROGRAM) else f"{PROGRAM} {words}"
        before, dump, after = line.partition(f" {self._dump}") if self._dump else (line, "", "")
        named = element("i", dump[1:], class_="dump") if dump and after[:1] in ("", " ") else escaped(dump[1:])
        code = element("code", joined(before, " " if dump else "", named, after), class_="cmd")
        place = self._shown_here(line)
        return code if place is None else element("a", code, href=place, class_="cmd")

    def table(self, text: str) -> str | None:
        """The address of a table that is named alone, as the evidence of a sentence."""
        name = text.strip()
        return f"#table-{name}" if name in self._tables else None

    def _shown_here(self, line: str) -> str | None:
        try:
            words = shlex.split(line)
        except ValueError:
            return None
        rest = words[3 if words[2:3] == shlex.split(self._dump)[:1] else 2 :] if words[1:2] == ["show"] else []
        options = {first: second for first, second in pairwise(rest) if first.startswith("--")}
        while rest[:1] == ["--rank"]:
            rest = rest[2:]
        if rest[:1] in (["node"], ["kernel"]) and len(rest) > 1:
            name = next((word for word in rest[1:] if not word.startswith("--")), "")
            return self._places.link(rest[0], name, options.get("--graph", "")) or self._places.link(rest[0], name)
        return f"#table-{rest[0]}" if rest and rest[0] in self._tables else None


def breakable(text: str) -> Markup:
    """Text in which a long name may be broken at its underscores: else it takes the room of all other columns."""
    if len(text) <= LONG_NAME:
        return escaped(text)
    words = (word.replace("_", "_<wbr>") if len(word) > LONG_NAME else word for word in escaped(text).split(" "))
    return Markup(" ".join(words))


LONG_NAME: Final = 40
"""Maximum characters of a word that is not broken."""


def _is_command(words: str) -> bool:
    first, _, rest = words.partition(" ")
    return first == PROGRAM or (first in COMMANDS and bool(rest))
