"""Every pattern that stands as a literal in what reads dumps, on texts made up from it: none backtracks without end.

A pattern that is tried at each place may take the square of a text's length; what calls it bounds that length. Nothing
takes more.
"""

import ast
import re
import re._constants as kinds  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
FUNCTIONS: Final = ("compile", "search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split")
LETTERS: Final = " a0A_.,:;/\\-=()[]{}<>'\"%#@!$&*+?|^~`\n\té\x1b\0"
REPEATS: Final = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
MANY: Final = 8
"""Repetitions from which on a repeat counts as one without an end."""
LENGTH: Final = 800
CUBED: Final = 6.5
"""Times longer for twice the text: twice is linear, four times the square, eight times the cube."""
NOTHING: Final = 0.005

Attack = tuple[str, str, str]
"""(what stands before, what is repeated, what stands behind)."""


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """(file:line, pattern) of all that the analyses, readers, `share` and the TUI write as literals."""
    for folder in ("inspector", "tui"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                match node:
                    case ast.Call(
                        func=ast.Attribute(value=ast.Name(id="re"), attr=attribute),
                        args=[ast.Constant(value=str() | bytes() as text), *others],
                        keywords=named,
                    ) if attribute in FUNCTIONS:
                        told = [*others, *(word.value for word in named if word.arg == "flags")]
                        names = [ast.unparse(value) for value in told]
                        flags = [re.RegexFlag[name[3:]] for name in re.findall(r"re\.[A-Z]+", " ".join(names))]
                        whole = re.RegexFlag(0)
                        for flag in flags:
                            whole |= flag
                        yield f"{path.relative_to(ROOT)}:{node.lineno}", re.compile(text, whole)


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
    for first in ("a", "0", " "):
        whole = example(tree, first)
        found |= {("", whole, ""), ("", whole[:-1], "")}
        for before, piece in repeated(tree, first):
            found |= {(before, piece, "\0"), (before, piece, "\n"), ("", before + piece, "\0")}
    return {attack for attack in found if attack[1]}


def seconds(pattern: re.Pattern[Any], way: str, attack: Attack, length: int) -> float:
    """CPU time of the pattern on the attack, about so many characters of it."""
    before, piece, behind = attack
    text: Any = before + piece * (length // len(piece) + 1) + behind
    text = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
    began = time.process_time()
    if way == "fullmatch":
        pattern.fullmatch(text)
    else:
        for _ in pattern.finditer(text):
            pass
    return time.process_time() - began


def worse_than_squared(pattern: re.Pattern[Any], way: str, attack: Attack) -> bool:
    for length in (24, 48, 96, 192, 384, 768):  # what doubles with each character is told before it takes for ever
        if seconds(pattern, way, attack, length) > 1:
            return True
    for _ in range(3):  # a busy machine may be slow once
        once, twice = (seconds(pattern, way, attack, length) for length in (LENGTH, 2 * LENGTH))
        if twice <= max(CUBED * once, NOTHING):
            return False
    return True


def check(pattern: re.Pattern[Any]) -> None:
    for attack in sorted(attacks(pattern)):
        for way in ("fullmatch", "finditer"):
            assert not worse_than_squared(pattern, way, attack), (way, attack)


@pytest.mark.parametrize("text", [r"(a+)+b", r"a_0[cde]*(?:\d+[cde]*)*", r"(?:\d+x)*[^<>]*[^<>]*>"])
def test_what_backtracks_is_seen(text: str) -> None:
    with pytest.raises(AssertionError):
        check(re.compile(text))


@pytest.mark.harmless
@pytest.mark.parametrize("pattern", [pytest.param(pattern, id=where) for where, pattern in patterns()])
def test_no_pattern_backtracks_without_end(pattern: re.Pattern[Any]) -> None:
    check(pattern)
