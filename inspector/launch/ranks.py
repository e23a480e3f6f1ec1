"""One dump for all ranks of a launch, each of which runs a command of its own: `torchrun -m inspect_compile run …`.

They meet in the directory: no messages are sent.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.dump import paths
from inspect_compile.dump.root import default_root, make_root

SECONDS: Final = 300.0
"""The ranks of one launch start within this time: an older dump is not theirs."""

_NAMES: Final = (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"))
_LAUNCH: Final = ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT", "PMIX_NAMESPACE")
"""Variables that are equal for all ranks of a launch, and together different from any other launch at the same time."""


class Place(NamedTuple):
    """Where one rank records."""

    top: Path
    """The launch's dump."""
    root: Path
    """The rank's folder in it."""
    is_first: bool
    """True for the first rank that came, which made the dump."""


class Launched(NamedTuple):
    """One of several ranks, according to its launcher's variables."""

    rank: int
    launch: str


def launched(environment: Mapping[str, str]) -> Launched | None:
    """What `environment` says of this process; None if it is not a rank."""
    for own, count in _NAMES:
        rank, size = environment.get(own, ""), environment.get(count, "")
        if rank.isdecimal() and size.isdecimal() and int(size) > 1:
            return Launched(int(rank), " ".join([size, *(environment.get(name, "-") for name in _LAUNCH)]))
    return None


def join(who: Launched, asked: Path | None, cwd: Path) -> Place:
    """The rank's place, in the directory `asked` or in a new one in torch_compile_debug.

    Raises CommandError for a directory that cannot be used, or that belongs to another launch.
    """
    meeting = asked or cwd / paths.BASE
    with contextlib.suppress(OSError):  # make_root says what is wrong with it
        meeting.mkdir(parents=True, exist_ok=True)
    with _alone_in(meeting):
        there = [meeting] if asked is not None else sorted(path.parent for path in meeting.glob(f"*/{paths.LAUNCH}"))
        ours = [path for path in there if _is_of(path, who)]
        top = ours[-1] if ours else asked or default_root(cwd, os.getpid(), datetime.now())
        if not ours:
            make_root(top)
            with contextlib.suppress(OSError):  # a rank that does not find it makes a separate dump
                (top / paths.LAUNCH).write_text(who.launch, "utf-8")
        root = top / paths.rank_folder(who.rank)
        make_root(root)
        return Place(top, root, is_first=not ours)


def _is_of(top: Path, who: Launched) -> bool:
    """True if `top` belongs to this rank's launch and has no part for the rank yet."""
    marker = top / paths.LAUNCH
    try:
        is_recent = time.time() - marker.stat().st_mtime < SECONDS
        return (
            is_recent and marker.read_text("utf-8") == who.launch and not (top / paths.rank_folder(who.rank)).exists()
        )
    except OSError:
        return False


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Excludes other ranks on this machine. Does nothing on a file system without locks."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
