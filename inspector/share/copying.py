"""Copies a dump without what must not be seen; derived files are made again from the copy."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from inspect_compile.dump import Dump, paths
from inspect_compile.dump.table import LONGEST_LINE
from inspect_compile.errors import CommandError
from inspect_compile.facts import Run
from inspect_compile.finish import finish
from inspect_compile.share.members import OTHERS, UNREADABLE, Member, opened
from inspect_compile.share.redact import Redactor
from inspect_compile.share.secrets import Gatherer
from inspect_compile.share.source_lines import SourceLines

SCRIPT_LOGS: Final = "logs of what the program printed"
DRAWINGS: Final = "drawings"
BINARIES: Final = "binary files"
LINES: Final = "lines that cannot be read"


def gather(members: Iterable[Member], gatherer: Gatherer) -> None:
    """Pass the contents of the files to `gatherer`."""
    for member in members:
        for part in member.place:
            gatherer.text(part)
        if member.is_derived or member.is_log:
            continue
        is_table = member.name.endswith(".jsonl")
        for line in _lines(member.path):
            if line is None:
                continue
            try:
                gatherer.json(_decoded(line) if is_table else line.decode("utf-8", "replace"))
            except RecursionError:  # nested deeper than any genuine row; it is left out below
                continue
        if member.name == paths.RUN:
            gatherer.run(Dump(member.path.parent).run)


def copied(
    members: Iterable[Member], into: Path, redactor: Redactor | None, source: SourceLines | None, left_out: Counter[str]
) -> None:
    """Write the copy below `into`. With a redactor, files that it cannot read are left out. Raises OSError."""
    for member in members:
        if redactor is not None and member.is_log:
            left_out[SCRIPT_LOGS] += 1
        elif member.is_drawing:
            left_out[DRAWINGS] += 1
        elif not member.is_derived:
            place = member.place if redactor is None else tuple(_renamed(part, redactor) for part in member.place)
            _copy(member, into.joinpath(*place), redactor, source, left_out)
    for run in sorted(into.rglob(paths.RUN)):
        finish(Dump(run.parent))


def _renamed(part: str, redactor: Redactor) -> str:
    name = redactor.text(part)
    return name if paths.is_safe(name) else paths.safe_name(name)


def _copy(
    member: Member, target: Path, redactor: Redactor | None, source: SourceLines | None, left_out: Counter[str]
) -> None:
    if target.exists():
        left_out[OTHERS] += 1
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if member.name == paths.RUN:
        target.write_bytes(_run(member.path, redactor, source))
        return
    try:
        if member.name.endswith(".jsonl"):
            _copy_table(member.path, target, redactor, source, left_out)
        else:
            _copy_text(member.path, target, redactor, source, left_out)
    except UnicodeError:
        target.unlink()
        left_out[BINARIES] += 1


def _copy_table(
    path: Path, target: Path, redactor: Redactor | None, source: SourceLines | None, left_out: Counter[str]
) -> None:
    with open(target, "wb") as file:
        for line in _lines(path):
            row = None if line is None else _row(line, redactor, source)
            if row is None:
                left_out[LINES] += 1
            else:
                file.write(row)


def _copy_text(
    path: Path, target: Path, redactor: Redactor | None, source: SourceLines | None, left_out: Counter[str]
) -> None:
    """Raises UnicodeError if the file is not text."""

    def texts() -> Iterator[str]:
        for line in _lines(path):
            if line is None:
                left_out[LINES] += 1
                continue
            text = line.decode("utf-8")
            if "\0" in text:
                raise UnicodeError("bytes, and no text")
            bare = text.rstrip("\r\n")
            yield text if source is None else source.line(bare) + text[len(bare) :]

    with open(target, "wb") as file:
        for text in texts() if redactor is None else redactor.lines(texts()):
            file.write(text.encode("utf-8"))


def _run(path: Path, redactor: Redactor | None, source: SourceLines | None) -> bytes:
    run: dict[str, Any] = msgspec.to_builtins(Dump(path.parent).run)
    if redactor is not None:
        run = redactor.run(run)
    if source is not None:
        run = source.json(run)
    return msgspec.json.format(msgspec.json.encode(msgspec.convert(run, Run)), indent=2) + b"\n"


def _row(line: bytes, redactor: Redactor | None, source: SourceLines | None) -> bytes | None:
    """A line of a table; None if it is incomplete, or not genuine."""
    if not line.endswith(b"\n"):
        return None
    value = _decoded(line)
    if value is None:
        return None
    try:
        if source is not None:
            value = source.json(value)
        if redactor is not None:
            value = redactor.json(value)
        return msgspec.json.encode(value) + b"\n"
    except (RecursionError, UnicodeError):
        return None


def _decoded(line: bytes) -> Any:
    """The row in a line of a table; None if it cannot be read."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def _lines(path: Path) -> Iterator[bytes | None]:
    """The lines of a file; None for one that is too long to be genuine."""
    with open(opened(path), "rb") as file:
        while line := file.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    pass
                yield None
            else:
                yield line


def readable(members: Iterable[Member], left_out: Counter[str]) -> list[Member]:
    """The files that can be opened; raises CommandError if run.json cannot."""
    found = []
    for member in members:
        try:
            with open(opened(member.path), "rb"):
                found.append(member)
        except OSError as error:
            if member.place == (paths.RUN,):
                raise CommandError(f"{member.path}: cannot be read ({error.strerror or error})") from None
            left_out[UNREADABLE] += 1
    return found
