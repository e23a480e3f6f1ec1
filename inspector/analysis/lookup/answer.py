"""What became of looking something up that a person typed."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from inspect_compile.analysis.dumps.nothing import nothing, nothing_text
from inspect_compile.dump import Dump

T = TypeVar("T")

Kind = Literal[
    "compile", "graph", "rank", "target", "replay", "node", "operation", "graph of a pair", "two operations", "kernel",
    "line of output_code.py", "configuration", "source", "form of a kernel's line", "line of a kernel",
    "statement of a line", "statement of a node", "statement of both", "mapped statement", "reason", "round",
    "form of a program's line", "operation of a line", "form of a moment", "moment", "file of a profile",
    "format of a profile", "content of a profile", "kernel of a profile", "thing",
]  # fmt: skip
"""What was looked for. `compile`: anything, in a dump without a graph; `thing`: whatever has a name."""

_NEAR: Final = 5
_MOST_NAMES: Final = 20_000
"""Maximum number of names searched for similar ones."""


@dataclass(frozen=True)
class Found(Generic[T]):
    """What the words mean."""

    all: tuple[T, ...]
    """One for each graph, or kernel, that has it; never none."""


@dataclass(frozen=True)
class Ambiguous:
    """The words mean several things, and only one of them can be answered for."""

    asked: str
    kind: Kind
    choices: tuple[str, ...]
    """Words that mean one of them each."""


@dataclass(frozen=True)
class Unknown:
    """The words mean nothing of the kind."""

    asked: str
    kind: Kind
    root: Path
    """The dump."""
    near: tuple[str, ...] = ()
    """Similar names that exist, best first."""
    there: tuple[str, ...] = ()
    """All names that exist."""
    among: str = ""
    """The graph or kernel in which it was looked for; empty for the whole dump."""
    why: str = ""
    """Why there is nothing, if that is known."""


Answer: TypeAlias = Found[T] | Ambiguous | Unknown


def together(answers: Iterable[Answer[T]]) -> Answer[T]:
    """All that any of the answers found; else the first answer."""
    every = list(answers)
    found = tuple(one for answer in every if isinstance(answer, Found) for one in answer.all)
    return Found(found) if found else every[0]


def unknown(dump: Dump, asked: str, kind: Kind, names: Iterable[str] = (), among: str = "") -> Unknown:
    """The answer where `asked` is none of `names`; it says why where the dump has no graph at all."""
    if nothing(dump) is not None:
        return Unknown(asked, "compile", dump.root, why=nothing_text(dump))
    known = tuple(islice(dict.fromkeys(names), _MOST_NAMES))
    near = tuple(get_close_matches(asked[:200], known, _NEAR, 0.5))
    return Unknown(asked, kind, dump.root, near, known, among)
