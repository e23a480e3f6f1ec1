"""Makes a dump of TORCH_TRACE logs: one, or a folder with one for each rank."""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from inspect_compile.dump import paths
from inspect_compile.dump.writer import Writer
from inspect_compile.errors import DumpError
from inspect_compile.facts import Fact, Run
from inspect_compile.knowledge.origins import TORCH_TRACE, note
from inspect_compile.origins.torch_trace.graphs import File
from inspect_compile.origins.torch_trace.reader import Trace
from inspect_compile.origins.torch_trace.records import Unread, records

_KINDS: Final = frozenset(
    {"str", "dynamo_start", "artifact", "chromium_event", "compilation_metrics", "dynamo_output_graph",
     "describe_storage", "describe_tensor", "inductor_output_code", "aot_inference_graph", "exported_program", "link"}
)  # fmt: skip
"""Records of which one tells that a file is such a log."""
_LOOKED_AT: Final = 4 << 20
"""Bytes at a file's beginning in which there must be one."""
_MOST_LOGS: Final = 4096
_RANK: Final = re.compile(r"_rank_(\d{1,6})(?=[_.]|$)")
_PROCESS: Final = "process_"


@dataclass(frozen=True)
class Log:
    """One log of a process."""

    path: Path
    rank: int | None


def logs_at(path: Path) -> list[Log]:
    """The TORCH_TRACE logs that `path` is or, if it is a folder, that lie in it, ranks first."""
    if path.is_file():
        return [_log(path)] if _is_log(path) else []
    if not path.is_dir() or (path / paths.RUN).exists():
        return []
    files = sorted(file for file in path.iterdir() if file.suffix in (".log", ".txt") and file.is_file())[:_MOST_LOGS]
    found = [_log(file) for file in files if not file.is_symlink() and _is_log(file)]
    return sorted(found, key=lambda log: (log.rank is None, log.rank or 0, log.path.name))


def _log(path: Path) -> Log:
    rank = _RANK.search(path.name)
    return Log(path, int(rank[1]) if rank else None)


def _is_log(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            lines = file.readlines(_LOOKED_AT)
    except OSError:
        return False
    return any(record.kind in _KINDS for record in records(lines, Unread(), {}))


def read_logs(path: Path, root: Path) -> None:
    """Make the dump `root`, a new directory, of the logs at `path`. Raises DumpError and OSError."""
    logs = logs_at(path)
    if len(logs) == 1:
        _import(logs[0], root)
    else:
        _import_ranks(path, logs, root)


def _import_ranks(path: Path, logs: Sequence[Log], root: Path) -> None:
    root.mkdir(parents=True)
    taken: set[str] = set()
    for number, log in enumerate(logs, 1):
        folder = paths.rank_folder(log.rank) if log.rank is not None else f"{_PROCESS}{number}"
        if folder in taken:  # a second log of the rank, of a process that was started again, say
            folder = f"{_PROCESS}{number}"
        taken.add(folder)
        _import(log, root / folder)
    Writer(root).run(Run(status="ranks", origin=TORCH_TRACE, argv=(path.name,), notes=(note(TORCH_TRACE),)))
    _mark_finished(root)


def _import(log: Log, root: Path) -> None:
    root.mkdir(parents=True)
    writer, trace = Writer(root), Trace()
    with ExitStack() as stack:
        lines = stack.enter_context(log.path.open("rb"))
        for batch in _batches(trace.facts(lines)):
            if isinstance(batch[0], File):
                for file in batch:
                    assert isinstance(file, File)
                    writer.text(file.name, file.text)
            else:
                writer.add_all(batch)  # type: ignore[arg-type]
    writer.flush()
    began = "" if trace.began is None else datetime.fromtimestamp(trace.began, UTC).isoformat()
    writer.run(
        Run(
            status="finished",
            argv=(log.path.name,),
            rank=log.rank if log.rank is not None else trace.rank,
            started=began,
            versions=trace.versions,
            device=trace.device or "cpu",
            origin=TORCH_TRACE,
            notes=(note(TORCH_TRACE),),
        )
    )
    if writer.trouble:
        raise DumpError("not writable", writer.trouble, str(root))
    _mark_finished(root)


def _batches(facts: Iterator[Fact | File]) -> Iterator[list[Fact | File]]:
    """Runs of facts of one kind and graph, or of files."""
    batch: list[Fact | File] = []
    key: object = None
    for fact in facts:
        own = (type(fact), "" if isinstance(fact, File) else fact.graph)
        if batch and (own != key or len(batch) >= 64):
            yield batch
            batch = []
        batch.append(fact)
        key = own
    if batch:
        yield batch


def _mark_finished(root: Path) -> None:
    """The derived files of a dump are made of facts that no log holds, and one of them has a file of torch's own."""
    (root / paths.FINISHED).write_text("", encoding="utf-8")
