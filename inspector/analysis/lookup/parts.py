"""Finds the part of a dump that a person names: a rank, a target or a replay."""

from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.dumps.parts import numbers_text, ranks, replays, targets
from inspect_compile.analysis.lookup.answer import Answer, Found, Unknown
from inspect_compile.dump import Dump


def find_rank(dump: Dump, rank: int) -> Answer[Dump]:
    """The part of one rank; the dump itself if it is that rank's."""
    there = ranks(dump)
    if rank in there:
        return Found((there[rank].dump,))
    if not there and dump.run.rank == rank:
        return Found((dump,))
    known = numbers_text(there) if there else "" if dump.run.rank is None else str(dump.run.rank)
    return Unknown(str(rank), "rank", dump.root, there=(known,) if known else ())


def find_target(dump: Dump, target: str | None) -> Answer[Dump]:
    """The part of one target; for None that of the only one, else the dump itself."""
    there = targets(dump)
    if target is None:
        return Found((next(iter(there.values())).dump if len(there) == 1 else dump,))
    if target in there:
        return Found((there[target].dump,))
    if target == dump.run.target:
        return Found((dump,))
    of_ranks = {name: None for part in ranks(dump).values() for name in targets(part.dump)}
    if target in of_ranks:
        return Found((Dump(dump.root, target),))
    if target in dump.run.targets:  # it was asked for, but nothing was compiled for it
        return Unknown(target, "target", dump.root, why=nothing_text(dump))
    own = (dump.run.target,) if dump.run.target else ()
    return Unknown(target, "target", dump.root, there=tuple(there or of_ranks) or own)


def find_replay(dump: Dump, number: int) -> Answer[Dump]:
    """One replay."""
    there = replays(dump)
    if number in there:
        return Found((there[number].dump,))
    return Unknown(str(number), "replay", dump.root, there=(numbers_text(there),) if there else ())
