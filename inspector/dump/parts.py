"""The parts of a run: what its other processes recorded, each a dump of its own in a folder of the run's."""

import re
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.dump import paths
from inspect_compile.dump.reader import Dump, open_dump
from inspect_compile.errors import CommandError

_RANK: Final = re.compile(r"rank_(\d{1,9})(?:-pid_\d+)?")


class Part(NamedTuple):
    """One process's part."""

    rank: int | None
    """None for a process that no launcher numbered."""
    name: str
    root: Path

    @property
    def leads(self) -> bool:
        """Is it the first process of its rank, the one that the rank's number means?"""
        return self.rank is not None and self.name == paths.rank_folder(self.rank)


def parts(root: Path) -> list[Part]:
    """The parts in the run's folder, by rank; of a rank the first process first."""
    found = []
    for marker in root.glob(f"*/{paths.RUN}"):
        if paths.inside(root, marker):
            name = marker.parent.name
            match = _RANK.fullmatch(name)
            found.append(Part(int(match[1]) if match else None, name, marker.parent))
    return sorted(found, key=lambda part: (part.rank is None, part.rank or 0, len(part.name), part.name))


def ranks(root: Path) -> dict[int, Part]:
    """The first process of each rank."""
    found: dict[int, Part] = {}
    for part in parts(root):
        if part.rank is not None:
            found.setdefault(part.rank, part)
    return found


def of_rank(dump: Dump, rank: int) -> Dump:
    """The part of `rank`. CommandError, with the ranks that there are, for one that is not there."""
    found = ranks(dump.root)
    if rank not in found:
        there = f"it has the ranks {' '.join(map(str, found))}" if found else "it has no ranks"
        raise CommandError(f"{dump.root}: no rank {rank}; {there}")
    return open_dump(found[rank].root)
