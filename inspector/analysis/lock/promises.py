"""What one loop nest has to compute together: whether it does, and if not, what keeps it apart."""

from typing import NamedTuple

from inspect_compile.analysis.lock.contract import Compiled
from inspect_compile.analysis.lock.evidence import Apart, Loop
from inspect_compile.analysis.lock.rules import Together
from inspect_compile.facts import Location
from inspect_compile.graph import ProgramLine


class Broken(NamedTuple):
    """A promise that is not kept."""

    message: str
    why: str = ""
    where: Location | None = None
    pair: Apart | None = None
    """The two loop nests that are apart, if the dump knows them."""


def broken_promises(rule: Together, now: Compiled) -> Broken | None:
    """Why not one loop nest has all parts of the rule; None if one has."""
    by_part = {part: [loop for loop in now.loops if has(loop, part)] for part in rule.parts}
    for loop in by_part[rule.parts[0]]:
        if all(loop in loops for loops in by_part.values()):
            return None
    missing = [part for part, loops in by_part.items() if not loops]
    if missing:
        there = ", ".join(dict.fromkeys(name for loop in now.loops for name in loop.operators))
        absent = " and ".join(missing)
        return Broken(f"{absent}: in no generated loop; there are {there or 'none'}", "", None)
    together = " and ".join(rule.parts)
    for first in rule.parts:
        for second in rule.parts:
            for one in by_part[first]:
                for other in by_part[second]:
                    if (pair := _apart(now, one, other)) is not None:
                        where = next(reversed(other.lines), None)
                        return Broken(f"{together} are not in one kernel", pair.why, where, pair)
    loop = by_part[rule.parts[-1]][0]
    message = f"{together} are not in one kernel"
    return Broken(message, "their loops share no bytes", next(iter(loop.lines), None))


def has(loop: Loop, part: str) -> bool:
    """True if a loop nest has an operator of that name, or something from that line of the program."""
    line = ProgramLine.read(part)
    if line is not None:
        return any(line.is_at(at) for at in loop.lines)
    return part in loop.operators


def _apart(now: Compiled, one: Loop, other: Loop) -> Apart | None:
    if one.graph != other.graph:
        return None
    names = {one.name, other.name}
    return next((pair for pair in now.apart if pair.graph == one.graph and {pair.a, pair.b} == names), None)
