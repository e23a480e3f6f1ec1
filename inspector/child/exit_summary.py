"""What a run prints on stderr at its end: where the dump is, or why there is nothing in it."""

import contextlib
import os
import select
import shlex
import sys
from collections.abc import Sequence

from inspect_compile.child.recorder import Tally
from inspect_compile.child.stderr import BrokenPipe, has_room
from inspect_compile.facts import Frame
from inspect_compile.knowledge.overview import nothing
from inspect_compile.knowledge.overview.nothing import Seen, in_one_line

OMITTED = 2
"""Maximum number of lines about what a dump does not contain."""

PATIENCE = 1.0
"""Seconds to wait for a stderr that accepts nothing."""


def compose(
    tally: Tally,
    dump: str,
    *,
    saw_torch: bool,
    is_unwatched: bool = False,
    lacks_torch: bool = False,
    ranks: int = 0,
    others: int = 0,
    targets: Sequence[str] = (),
    refused: Sequence[str] = (),
    trouble: str | None = None,
    omitted: Sequence[str] = (),
    looks: str | None = None,
    made_up: Sequence[str] = (),
) -> list[str]:
    """One line, or one more for each thing that the user should know.

    `dump` is its path as a person would type it; `ranks` and `others`, how many ranks and other processes of the run
    left a part; `targets`, the GPUs that graphs were compiled for in the place of what is here; `refused`, why others
    were not; `omitted`, what the dump does not hold because of a limit; `looks`, what `looked` says; `made_up`, the
    operators whose results are made up because only a GPU has them.
    """
    name = shlex.quote(dump)
    failure = None if tally.failure is None else in_one_line(nothing.why_nothing(Seen(failure=tally.failure)))
    if tally.graphs or ranks or others or targets:
        seen = [counted(tally.graphs, "graph"), counted(tally.kernels, "kernel")] if tally.graphs else []
        other = "other " if seen else ""
        parts = [(ranks, f"{other}rank"), (others, f"{other}process")]
        told_parts = " and ".join(counted(count, noun) for count, noun in parts if count)
        seen += [f"{told_parts} that compiled"] if told_parts else []
        seen += [f"what was compiled for {' and '.join(targets)}"] if targets else []
        lines = [f"{', '.join(seen)} in {dump}; see: inspect-compile show {name}"]
        lines += [line for line in (trouble, failure) if line is not None][:1]
        if refused and targets:
            lines.append(in_one_line(nothing.why_nothing(Seen(refused=tuple(refused)))))
        lines += [*omitted[:OMITTED], *([f"and more like it: {name}"] if len(omitted) > OMITTED else [])]
    else:
        why = why_nothing(
            tally, saw_torch=saw_torch, is_unwatched=is_unwatched, lacks_torch=lacks_torch, refused=refused
        )
        lines = [
            f"nothing to show: {why}",
            *omitted[:OMITTED],
            trouble or f"recorded in {dump}",
        ]
    lines += [looks] if looks is not None else []
    if made_up:
        more = f" and {counted(len(made_up) - OMITTED, 'more operator')}" if len(made_up) > OMITTED else ""
        operators = ", ".join(made_up[:OMITTED]) + more
        lines.append(f"the CPU can't compute {operators}: numbers after it are made up; see show remarks")
    return [f"inspect-compile: {line}" for line in lines]


def looked(tally: Tally, how: str | None) -> str | None:
    """What a program should know that looks at torch's caches: it `looks at torch's counters`, say."""
    if how is None or not tally.passed_over:
        return None
    return (
        f"the program {how}: {counted(tally.passed_over, 'cache lookup')} found nothing because of the recording; "
        "with --cache keep they are as without it"
    )


def why_nothing(
    tally: Tally,
    *,
    saw_torch: bool,
    is_unwatched: bool = False,
    lacks_torch: bool = False,
    refused: Sequence[str] = (),
) -> str:
    """Why there is no graph, on one line. `refused`: what targets reported about graphs that they could not compile."""
    seen = Seen(
        failure=tally.failure,
        refused=(*tally.refused, *refused),
        is_cached=tally.is_cached,
        keeps_caches=tally.keeps_caches,
        frames=tally.facts[Frame],
        compiled=tally.compiled_frames,
        skipped=() if tally.compiled_frames else tuple(tally.skipped),
        saw_torch=saw_torch,
        is_unwatched=is_unwatched,
        lacks_torch=lacks_torch,
    )
    return in_one_line(nothing.why_nothing(seen))


def counted(number: int, noun: str) -> str:
    """`1 graph`, `2 graphs`, `2 processes`."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def flush_output() -> None:
    """Flush what the program has printed, so that our lines come after it."""
    try:
        stream = sys.__stdout__
        if stream is not None and sys.stdout is stream:
            stream.flush()
    except (OSError, ValueError):
        return  # The interpreter runs into it again at its end, and reports it.


def say(lines: list[str]) -> None:
    """Print to the process's stderr; if that is impossible, nothing is printed and nothing changes.

    Written without a buffer, because one that could not be flushed would change the exit status; with SIGPIPE ignored,
    because a closed reader would change how the program died.
    """
    stream = sys.__stderr__
    if stream is None or stream.closed or sys.stderr is None:
        return
    descriptor = stream.fileno()
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    _, ready, _ = select.select([], [descriptor], [], PATIENCE)
    if not ready or not has_room(descriptor, len(text)):
        return
    with BrokenPipe(), contextlib.suppress(OSError):
        os.write(descriptor, text)
