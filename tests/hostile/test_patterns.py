"""Every pattern that stands as a literal in what reads dumps, on texts made up from it: none backtracks without end.

Twice the text takes at most 2.5 times as long, with each method that a pattern is used with, on a text of any length.
"""

import ast
import importlib
import itertools
import re
import re._constants as kinds  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from inspect_compile.knowledge.kernels import library_kernels
from inspect_compile.share import patterns
from inspect_compile.share.places import PathShortener
from inspect_compile.share.redact import Redactor
from inspect_compile.share.secrets import Secrets

ROOT: Final = Path(__file__).parents[2]
ROOMS: Final = ("inspector", "lowering", "codegen", "tui")
METHODS: Final = ("search", "match", "fullmatch", "sub", "subn", "findall", "finditer")
FUNCTIONS: Final = ("compile", "search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split")
LETTERS: Final = " a0A_.,:;/\\-=()[]{}<>'\"%#@!$&*+?|^~`\n\té\x1b\0"
FIRST: Final = "a0 \n+#"
"""What a text is filled with, where the pattern lets it: what a look-behind forgot is among these."""
REPEATS: Final = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
MANY: Final = 8
"""Repetitions from which on a repeat counts as one without an end."""
LONGEST: Final = 1 << 18
"""Characters up to which a text is made longer."""
DOUBLED: Final = 2.5
"""Times longer for twice the text: twice is linear, four times the square."""
ENOUGH: Final = 0.05
"""Seconds after which nothing longer is tried."""
NOTHING: Final = 0.002
"""Seconds that say nothing yet."""

OF_LOOP: Final = {f"inspector/share/places.py:{name}": ("fullmatch",) for name in ("_PACKAGES", "_PYTHON", "_TORCH")}
"""Constants that are used by another name than their own, and how."""

Attack = tuple[str, str, str]
"""(what stands before, what is repeated, what stands behind)."""


class Held(NamedTuple):
    """A pattern, and the methods that it is used with."""

    where: str
    pattern: re.Pattern[Any]
    ways: tuple[str, ...]


class Source(NamedTuple):
    """A file that has to do with patterns."""

    path: Path
    module: str
    tree: ast.Module
    used: frozenset[tuple[str, str]]
    """What `used` finds in it."""


def sources() -> Iterator[Source]:
    """All of them."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            text = path.read_text("utf-8")
            if re.search(r"\bre\.[a-z]+\(", text):
                parts = path.relative_to(ROOT).with_suffix("").parts
                inside = parts[1:] if room == "inspector" else parts
                module = ".".join(["inspect_compile", *inside]).removesuffix(".__init__")
                tree = ast.parse(text)
                yield Source(path, module, tree, frozenset(used(tree)))


def ways_of(names: Iterator[str]) -> tuple[str, ...]:
    """The methods, those that look everywhere as `finditer`."""
    return tuple(sorted({name if name in ("match", "fullmatch", "search") else "finditer" for name in names}))


def used(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(`NAME` or `module.NAME`, method) of each use of what may be a pattern; of an item, of what holds it."""
    imported = {
        alias.asname or alias.name: f"{node.module.rpartition('.')[2]}.{alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            value = node.value
            while isinstance(value, ast.Subscript):
                value = value.value
            if isinstance(value, (ast.Name, ast.Attribute)):
                name = ast.unparse(value)
                yield imported.get(name, name), node.attr


def of_module(source: Source) -> Iterator[Held]:
    """The patterns that are made once, when the module is imported."""
    own = {(name, attribute) for name, attribute in source.used if name.partition(".")[0] != "re"}
    others = tuple(attribute for _, attribute in own)
    elsewhere = USED[source.module.rpartition(".")[2]]
    constants = [
        ast.unparse(node).split("=")[0] for node in source.tree.body if isinstance(node, (ast.Assign, ast.AnnAssign))
    ]
    for name, value in vars(importlib.import_module(source.module)).items():
        if not any(name in constant for constant in constants):
            continue
        where = f"{source.path.relative_to(ROOT)}:{name}"
        ways = (
            OF_LOOP.get(where, ())
            or ways_of(attribute for found, attribute in own | elsewhere if name in (found, found.partition(".")[2]))
            or ways_of(iter(others))
        )
        for number, pattern in enumerate(found_in(value)):
            yield Held(f"{where}{number or ''}", pattern, ways or ("finditer", "fullmatch"))


def found_in(value: Any) -> Iterator[re.Pattern[Any]]:
    """The patterns in a constant."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from found_in((*value, *value.values()))
    elif isinstance(value, (tuple, list, set, frozenset)):
        for item in value:
            yield from found_in(item)
    elif isinstance(value, msgspec.Struct):
        yield from found_in(msgspec.structs.astuple(value))


def of_functions(path: Path, tree: ast.Module) -> Iterator[tuple[str, str, re.Pattern[Any] | None]]:
    """(file:function, method, pattern or None if it is not a literal) of those that are made while a function runs."""
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for node in ast.walk(function):
                match node:
                    case ast.Call(
                        func=ast.Attribute(value=ast.Name(id="re"), attr=attribute),
                        args=[text, *others],
                        keywords=named,
                    ) if attribute in FUNCTIONS:
                        where = f"{path.relative_to(ROOT)}:{function.name}"
                        if not isinstance(text, ast.Constant):
                            yield where, attribute, None
                            continue
                        told = [*others, *(word.value for word in named if word.arg == "flags")]
                        flags = re.findall(r"re\.([A-Z]+)", " ".join(map(ast.unparse, told)))
                        whole = re.RegexFlag(0)
                        for flag in flags:
                            whole |= re.RegexFlag[flag]
                        yield where, attribute, re.compile(text.value, whole)


def one_of(items: Any, first: str) -> str:
    """A letter that a set of them matches."""
    found = re.compile(_text_of(items), re.DOTALL)
    return next((letter for letter in first + LETTERS if found.match(letter)), "")


def _text_of(items: Any) -> str:
    named = {
        kinds.CATEGORY_DIGIT: r"\d",
        kinds.CATEGORY_NOT_DIGIT: r"\D",
        kinds.CATEGORY_SPACE: r"\s",
        kinds.CATEGORY_NOT_SPACE: r"\S",
        kinds.CATEGORY_WORD: r"\w",
        kinds.CATEGORY_NOT_WORD: r"\W",
    }
    told = []
    for kind, value in items:
        if kind is kinds.NEGATE:
            told.append("^")
        elif kind is kinds.LITERAL:
            told.append(re.escape(chr(value)))
        elif kind is kinds.RANGE:
            told.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            told.append(named[value])
    return f"[{''.join(told)}]"


def example(tree: Any, first: str) -> str:
    """A text that the pattern may match; look-arounds are left out."""
    made = []
    for kind, value in tree:
        if kind is kinds.LITERAL:
            made.append(chr(value))
        elif kind is kinds.NOT_LITERAL:
            made.append(one_of([(kinds.NEGATE, None), (kinds.LITERAL, value)], first))
        elif kind is kinds.ANY:
            made.append(first)
        elif kind is kinds.IN:
            made.append(one_of(value, first))
        elif kind in REPEATS:
            made.append(example(value[2], first) * max(value[0], min(1, value[1])))
        elif kind is kinds.BRANCH:
            made.append(example(value[1][0], first))
        elif kind is kinds.SUBPATTERN:
            made.append(example(value[3], first))
        elif kind is kinds.ATOMIC_GROUP:
            made.append(example(value, first))
    return "".join(made)


def repeated(tree: Any, first: str, before: str = "") -> Iterator[tuple[str, str]]:
    """(what leads to it, what it repeats) of every repeat without an end."""
    for kind, value in tree:
        if kind in REPEATS:
            if value[1] > MANY:
                yield before, example(value[2], first)
            yield from repeated(value[2], first, before)
        elif kind is kinds.SUBPATTERN:
            yield from repeated(value[3], first, before)
        elif kind is kinds.BRANCH:
            for branch in value[1]:
                yield before, example(branch, first)
                yield from repeated(branch, first, before)
        before += example([(kind, value)], first)


def attacks(pattern: re.Pattern[Any]) -> set[Attack]:
    """Texts on which a pattern like this may backtrack."""
    text = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = parser.parse(text, pattern.flags & ~re.UNICODE)
    found: set[Attack] = set()
    for first in FIRST:
        whole = example(tree, first)
        found |= {("", whole, ""), ("", whole[:-1], "")}
        for before, piece in repeated(tree, first):
            found |= {
                (before, piece, "\0"),
                (before, piece, "\n"),
                ("", before + piece, "\0"),
                ("", before + piece, "\n"),
            }
    return {attack for attack in found if attack[1]}


def seconds(pattern: re.Pattern[Any], way: str, attack: Attack, length: int) -> float:
    """CPU time of the pattern on the attack, about so many characters of it."""
    before, piece, behind = attack
    text: Any = before + piece * (length // len(piece) + 1) + behind
    text = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
    began = time.process_time()
    if way == "finditer":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, way)(text)
    return time.process_time() - began


def grows(pattern: re.Pattern[Any], way: str, attack: Attack) -> str:
    """The figures, if twice the text takes more than 2.5 times as long, however long it is; else nothing."""
    length = 16
    while length <= LONGEST:  # what doubles with each character is seen before it takes for ever
        once = seconds(pattern, way, attack, length)
        if once > NOTHING:
            if _explodes(pattern, way, attack, length, once):
                return f"{length} characters: {once:.4f} s, and several times that for a quarter more"
            twice = seconds(pattern, way, attack, 2 * length)
            for _ in range(3):  # a busy machine may be slow once
                if twice <= DOUBLED * once:
                    return ""  # the square of what is bounded: a number of repetitions, say
                once = min(once, seconds(pattern, way, attack, length))
                twice = min(twice, seconds(pattern, way, attack, 2 * length))
            if twice > max(ENOUGH, DOUBLED * once):
                return f"{length} characters: {once:.4f} s, twice as many: {twice:.4f} s"
        length *= 2
    return ""


def _explodes(pattern: re.Pattern[Any], way: str, attack: Attack, length: int, once: float) -> bool:
    """Does a quarter more text take more than four times as long? Twice the text would never end."""
    return all(seconds(pattern, way, attack, length + length // 4) > 4 * once for _ in range(3))


def check(pattern: re.Pattern[Any], ways: tuple[str, ...] = ("finditer", "fullmatch")) -> None:
    """Of a pattern that several modules use in the same way, once."""
    for way in ways:
        if (pattern, way) in CHECKED:
            continue
        for attack in sorted(attacks(pattern)):
            told = grows(pattern, way, attack)
            assert not told, (way, attack, told)
        CHECKED.add((pattern, way))


CHECKED: Final[set[tuple[re.Pattern[Any], str]]] = set()
"""What has passed."""


@pytest.mark.parametrize(
    "text",
    [
        r"(a+)+b",
        r"(?<![\w.-])[\w.+-]+@",
        r"(?<![\w/])(?:/[\w+]+)*/home",
        r"a_0[cde]*(?:\d+[cde]*)*",
        r"(?:\d+x)*[^<>]*[^<>]*>",
    ],
)
def test_what_backtracks_is_seen(text: str) -> None:
    with pytest.raises(AssertionError):
        check(re.compile(text))


SOURCES: Final = tuple(sources())
USED: Final[defaultdict[str, set[tuple[str, str]]]] = defaultdict(set)
"""Module → (`module.NAME`, method) of all rooms."""
for _source in SOURCES:
    for _pair in _source.used:
        if "." in _pair[0]:
            USED[_pair[0].partition(".")[0]].add(_pair)
HELD: Final = [held for source in SOURCES for held in of_module(source)]
MADE: Final = [made for source in SOURCES for made in of_functions(source.path, source.tree)]


@pytest.mark.harmless
@pytest.mark.parametrize("held", [pytest.param(held, id=held.where) for held in HELD])
def test_twice_the_text_takes_twice_the_time(held: Held) -> None:
    check(held.pattern, held.ways)


@pytest.mark.harmless
@pytest.mark.parametrize(
    ("way", "pattern"), [pytest.param(way, found, id=f"{where} {found.pattern}") for where, way, found in MADE if found]
)
def test_so_it_does_where_a_pattern_is_written_in_a_function(way: str, pattern: re.Pattern[Any]) -> None:
    check(pattern, ways_of(iter([way])))


_SECRETS: Final = Secrets(
    users=("jane.doe",),
    hosts=("node-7",),
    homes=("/home/jane.doe",),
    cwds=("/home/jane.doe/work",),
    values=("a-value",),
    odd=("/odd/a b",),
)
_REDACTOR: Final = Redactor(_SECRETS)
BUILT: Final[dict[str, tuple[tuple[re.Pattern[str], str], ...]]] = {
    "codegen/runtime/loaded_code.py:_pairs": ((re.compile(rf"\b{re.escape('triton_poi_fused_add_0')}\b"), "search"),),
    "inspector/analysis/compare/causes/texts.py:plain": (
        (re.compile(rf"(?<![A-Za-z0-9]){re.escape('triton_poi_fused_add_0')}(?![A-Za-z0-9])"), "finditer"),
    ),
    "inspector/commands/doctor.py:_build": ((re.compile(r"^cuda\b[^=\n]*= *'([^']+)'", re.MULTILINE), "search"),),
    "inspector/knowledge/kernels/library_kernels.py:_library": tuple(
        (library.pattern, "search") for library in library_kernels.LIBRARIES
    ),
    "inspector/share/archive.py:__init__": (
        (re.compile(patterns.words(_SECRETS.users), re.IGNORECASE), "search"),
        (re.compile(patterns.places(_SECRETS.homes), re.IGNORECASE), "search"),
    ),
    "inspector/share/places.py:__init__": ((PathShortener(_SECRETS)._known, "finditer"),),
    "inspector/share/redact.py:__init__": tuple((pattern, "finditer") for pattern, _ in _REDACTOR._steps),
    "inspector/share/redact.py:_words": ((_REDACTOR._words(_SECRETS.users, "users", "USER")[0][0], "finditer"),),
    "inspector/share/secrets.py:secrets": ((re.compile(rf"(?:[A-Za-z]:)?(?:/{patterns.PART})+"), "fullmatch"),),
}
"""What is put together while a function runs, of parts that are no literals: examples, and the method."""


def test_every_pattern_that_is_put_together_is_listed() -> None:
    """One that is new needs an example above, or is better a constant."""
    assert {where for where, _, pattern in MADE if pattern is None} == set(BUILT)


def test_patterns_are_found() -> None:
    assert len(HELD) > 250
    assert len(MADE) > 30
    assert not [held.where for held in HELD if not held.ways]


@pytest.mark.harmless
@pytest.mark.parametrize(
    ("pattern", "way"),
    [pytest.param(*one, id=f"{where} {number}") for where in BUILT for number, one in enumerate(BUILT[where])],
)
def test_so_it_does_where_a_pattern_is_put_together(pattern: re.Pattern[str], way: str) -> None:
    check(pattern, (way,))


SHORT: Final = 4000
LONG: Final = 0.02
"""Seconds of CPU time that SHORT characters never take, unless it grows with the square of their number."""


def slow_text(held: Held) -> tuple[str, str, Attack, int] | None:
    """The first text that a pattern takes long for: all of them would take minutes."""
    for attack, way in itertools.product(attacks(held.pattern), held.ways):
        for length in (24, 200, SHORT):  # what doubles with each character is seen before it takes for ever
            if all(seconds(held.pattern, way, attack, length) > LONG for _ in range(2)):
                return held.where, way, attack, length
    return None


@pytest.mark.parametrize("room", ROOMS)
def test_no_pattern_takes_long(room: str) -> None:
    """The quick form of the tests of growth."""
    of_room = (held for held in HELD if held.where.startswith(f"{room}/"))
    assert not [found for held in of_room if (found := slow_text(held))]
