"""The processes of one run, each with a part of its dump, and the ranks among them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from inspect_compile.dump import Dump, paths, readable_dump
from inspect_compile.facts import Frame, Graph


@dataclass(frozen=True)
class ProcessDump:
    """What one process of a run recorded, in the run's dump or in a folder of it."""

    dump: Dump
    rank: int | None
    """None for a process that is no rank, including those that a rank started."""
    name: str
    """`rank 0`, `process 4711`, `target sm_90`, `trace.log, TORCH_TRACE log`."""
    target: str = ""
    """The GPU that it was compiled for, if that was not present."""
    replay: int | None = None
    """Number of the replay, for a recorded graph that was compiled again."""


def parts(dump: Dump) -> list[ProcessDump]:
    """The other processes of a run: ranks in order, then other processes, then replays."""
    found = [_part(path) for path in dump.other_processes]
    return sorted(found, key=lambda part: (part.rank is None, part.rank or 0, part.replay or 0, part.dump.root.name))


def run_around(dump: Dump) -> Dump | None:
    """The dump of the run that `dump` is a part of; None if it is the whole run."""
    if not dump.root.name.startswith((paths.RANK, paths.PROCESS, paths.TARGET, paths.REPLAY)):
        return None
    return readable_dump(dump.root.parent)  # None for a part that was moved out of its run


def ranks(dump: Dump) -> dict[int, ProcessDump]:
    """The ranks of a run."""
    return {part.rank: part for part in parts(dump) if part.rank is not None}


def as_compiled(dump: Dump) -> dict[int, ProcessDump]:
    """The ranks of a run, each with its kernels: in the part of the target, if it was compiled for one."""
    found = {}
    for rank, part in ranks(dump).items():
        there = targets(part.dump)
        own = there.get(dump.target) if dump.target is not None else next(iter(there.values()), None)
        found[rank] = part if own is None else ProcessDump(own.dump, rank, part.name, own.target)
    return found


def targets(dump: Dump) -> dict[str, ProcessDump]:
    """The parts compiled for GPUs that were not present, in the order given to --target."""
    if not dump.run.targets:
        return {}
    there = {part.target: part for part in parts(dump)}
    return {target: there[target] for target in dump.run.targets if target in there}


def replays(dump: Dump) -> dict[int, ProcessDump]:
    """Graphs of this part that were compiled again, by number."""
    return {part.replay: part for part in parts(dump) if part.replay is not None}


def asked(target: str, config: Mapping[str, str], denied: Iterable[tuple[str, str]] = ()) -> str:
    """What a graph was compiled for and with: `sm_90, max_fusion_size=1, op1 and op2 apart`; empty if unchanged."""
    settings = (f"{name}={value}" for name, value in config.items())
    return ", ".join([*([target] if target else []), *settings, *(f"{a} and {b} apart" for a, b in denied)])


def asked_of_replay(part: ProcessDump) -> str:
    """The same for a replay; empty for every other part."""
    run = part.dump.run
    return asked(run.target, run.config, run.denied) if part.replay is not None else ""


def is_only_parts(dump: Dump) -> bool:
    """True if the first process of the run compiled nothing, and others did."""
    return bool(dump.other_processes) and not dump.rows(Graph) and not dump.rows(Frame)


def ranks_text(members: Iterable[int]) -> str:
    """`rank 0`, `ranks 1-3, 5`."""
    listed = sorted(members)
    return f"rank{'s' * (len(listed) != 1)} {numbers_text(listed)}"


def numbers_text(members: Iterable[int]) -> str:
    """`0`, `0-3, 5`: consecutive numbers as a range."""
    runs: list[list[int]] = []
    for number in sorted(members):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _part(path: Path) -> ProcessDump:
    dump = Dump(path)
    number = path.name.removeprefix(paths.RANK)
    if path.name.startswith(paths.RANK) and number.isdecimal():
        return ProcessDump(dump, int(number), f"rank {int(number)}")
    number = path.name.removeprefix(paths.REPLAY)
    if path.name.startswith(paths.REPLAY) and number.isdecimal():
        return ProcessDump(dump, None, f"replay {int(number)}", replay=int(number))
    target = path.name.removeprefix(paths.TARGET) if path.name.startswith(paths.TARGET) else ""
    return ProcessDump(dump, None, f"target {target}" if target else _name(path), target)


def _name(path: Path) -> str:
    """`process 4711`; of what others recorded its own name and what it is."""
    dump = readable_dump(path)
    if dump is not None and dump.run.origin and dump.run.argv:
        return f"{dump.run.argv[0]}, {dump.run.origin}"
    return path.name.replace("_", " ").replace("-pid ", ", process ")
