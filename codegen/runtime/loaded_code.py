"""Where the launches that torch generated are in the code that was loaded, which need not be the same text.

Something may have edited it on its way: a hook of the program, another tool, a cache. What runs is the loaded code, so
that is what is checked. Imports no torch.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final, NamedTuple

_LEAST: Final = 0.5
"""Share of the generated lines that the loaded code must have: with fewer it is another code."""
_LONGEST: Final = 20_000
"""Maximum number of lines between the first and the last difference that are compared line by line."""


class Changed(NamedTuple):
    """A line that was loaded in another form than it was generated."""

    line: int
    """Line number in the generated code; of an added line that of the line behind it."""
    generated: str
    """Empty for one that was added."""
    loaded: str
    """Empty for one that is missing."""


class LoadedLaunches(NamedTuple):
    """The launches in the loaded code. Lines are counted from 1."""

    lines: dict[int, int]
    """Generated line of a launch → its line in the loaded code."""
    missing: dict[int, int]
    """Generated line of a launch that the loaded code does not make → the loaded line before which it would be."""
    changed: tuple[Changed, ...]


def places(generated: str, loaded: str, launches: Mapping[int, str]) -> LoadedLaunches | None:
    """Where the `launches` are, by the generated lines that name their kernels. None if the loaded code is not made
    from this one.
    """
    before, is_there, _ = loaded.partition(generated)
    if is_there:
        offset = before.count("\n")
        return LoadedLaunches({line: line + offset for line in launches}, {}, ())
    old, new = generated.splitlines(), loaded.splitlines()
    lines: dict[int, int] = {}
    missing: dict[int, int] = {}
    changed: list[Changed] = []
    same = 0
    for kind, a, b, c, d in _blocks(old, new):
        if kind == "equal":
            same += b - a
            lines.update({at + 1: c + at - a + 1 for at in range(a, b) if at + 1 in launches})
            continue
        pairs = _pairs(old[a:b], new[c:d], {at - a: launches[at + 1] for at in range(a, b) if at + 1 in launches})
        for at, to in pairs.items():
            if at + a + 1 not in launches:
                pass
            elif to is None:
                missing[at + a + 1] = _behind(pairs, at, d - c) + c + 1
            else:
                lines[at + a + 1] = to + c + 1
            changed.append(Changed(at + a + 1, old[at + a].strip(), "" if to is None else new[to + c].strip()))
        taken = set(pairs.values())
        # What surrounds the generated code, such as what torch writes before it, is no part of it.
        if a > 0 and b < len(old):
            changed += [Changed(b + 1, "", new[to].strip()) for to in range(c, d) if to - c not in taken]
    if same < _LEAST * len(old):
        return None
    return LoadedLaunches(lines, missing, tuple(one for one in changed if one.generated != one.loaded))


def _blocks(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Like SequenceMatcher's opcodes: what both begin and end with is not searched."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    first, last = old[head : len(old) - tail], new[head : len(new) - tail]
    yield "equal", 0, head, 0, head
    if max(len(first), len(last)) > _LONGEST:
        yield "replace", head, len(old) - tail, head, len(new) - tail
    else:
        for kind, a, b, c, d in SequenceMatcher(None, first, last, autojunk=False).get_opcodes():
            yield kind, a + head, b + head, c + head, d + head
    yield "equal", len(old) - tail, len(old), len(new) - tail, len(new)


def _pairs(old: list[str], new: list[str], kernels: Mapping[int, str]) -> dict[int, int | None]:
    """Line of a block → the line that stands in its place. `kernels`: the lines that launch one."""
    found: dict[int, int | None] = {}
    free = list(range(len(new)))
    for at, kernel in kernels.items():
        name = re.compile(rf"\b{re.escape(kernel.rsplit('.', 1)[-1])}\b")
        to = next((one for one in free if name.search(new[one]) and _is_statement(new[one])), None)
        if to is None and len(old) == len(new) and at in free and "(" in new[at] and _is_statement(new[at]):
            to = at
        found[at] = to
        if to is not None:
            free.remove(to)
    for at in range(len(old)):
        if at not in found:
            to = at if len(old) == len(new) and at in free else None
            found[at] = to
            if to is not None:
                free.remove(to)
    return dict(sorted(found.items()))


def _is_statement(line: str) -> bool:
    return not line.lstrip().startswith("#")


def _behind(pairs: Mapping[int, int | None], at: int, end: int) -> int:
    """The line of the loaded block behind that of the latest earlier line that is in it."""
    earlier = [to for one, to in pairs.items() if one < at and to is not None]
    return min(max(earlier) + 1 if earlier else 0, end)


def first_statement(tree: ast.AST, line: int) -> int | None:
    """The first line from `line` on where a statement of a function begins, within that function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    around = [one for one in functions if one.lineno < line <= (one.end_lineno or one.lineno)]
    if not around:
        return None
    inner = max(around, key=lambda one: one.lineno)
    begins = [node.lineno for node in ast.walk(inner) if isinstance(node, ast.stmt) and node.lineno >= line]
    return min(begins, default=None)


def names_in(line: str) -> tuple[str, ...]:
    """The names in a line of code; none if it is no statement by itself."""
    try:
        tree = ast.parse(line.strip())
    except SyntaxError:
        return ()
    return tuple(dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)))
