"""Copies a dump without what must not be seen; derived files are made again from the copy."""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from inspect_compile.dump import Dump, paths
from inspect_compile.dump.table import LONGEST_LINE
from inspect_compile.dump.wholeness import table_sizes
from inspect_compile.errors import CommandError
from inspect_compile.facts import Run
from inspect_compile.finish import finish
from inspect_compile.share.members import OTHERS, UNREADABLE, Member, opened
from inspect_compile.share.program_names import ProgramNames
from inspect_compile.share.redact import Redactor
from inspect_compile.share.secrets import Gatherer
from inspect_compile.share.source_lines import SourceLines

SCRIPT_LOGS: Final = "logs of what the program printed"
DRAWINGS: Final = "drawings"
BINARIES: Final = "binary files"
LINES: Final = "unreadable lines"

LARGEST: Final = 8 << 30
MOST: Final = 64 << 30
"""Maximum size in bytes of a file, and of all together: a hole in a file may be larger than any disk."""
TOO_LARGE: Final = f"files of more than {LARGEST >> 30} GiB, or beyond {MOST >> 30} GiB in all"


def gather(members: Iterable[Member], gatherer: Gatherer, names: ProgramNames | None = None) -> None:
    """Pass the contents of the files to `gatherer`, and to `names`."""
    source = SourceLines(names.source) if names is not None else None
    for member in members:
        for part in member.place:
            gatherer.text(part)
        if member.is_derived or member.is_log or member.is_inputs:
            continue
        is_table = member.name.endswith(".jsonl")
        for line in _lines(member.path):
            if line is None:
                continue
            try:
                value = _decoded(line) if is_table else line.decode("utf-8", "replace")
                gatherer.json(value)
                if names is not None and source is not None:
                    names.row(source.json(value) if is_table else source.line(value.rstrip("\r\n")))
            except RecursionError:  # nested deeper than any genuine row; it is left out below
                continue
        if source is not None:
            source.end()
        if member.name == paths.RUN:
            run = Dump(member.path.parent).run
            gatherer.run(run)
            if names is not None:
                names.run(msgspec.to_builtins(run))


class Copy(NamedTuple):
    """How a dump is copied, and what of it is left out."""

    redactor: Redactor | None
    """None: nothing is redacted."""
    source: SourceLines | None
    """None: source lines stay."""
    left_out: Counter[str]

    def write(self, members: Iterable[Member], into: Path) -> None:
        """Write the copy below `into`. With a redactor, files that it cannot read are left out. Raises OSError."""
        for member in members:
            if self.redactor is not None and member.is_log:
                self.left_out[SCRIPT_LOGS] += 1
            elif member.is_drawing:
                self.left_out[DRAWINGS] += 1
            elif not member.is_derived:
                self._file(member, into.joinpath(*map(self._renamed, member.place)))
        for run in sorted(into.rglob(paths.RUN)):
            _record_sizes(run)
            finish(Dump(run.parent))

    def _renamed(self, part: str) -> str:
        name = part if self.redactor is None else self.redactor.text(part)
        return name if self.redactor is None or paths.is_safe(name) else paths.safe_name(name)

    def _file(self, member: Member, target: Path) -> None:
        if target.exists():
            self.left_out[OTHERS] += 1
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if member.is_inputs:
            with open(opened(member.path), "rb") as tensors, open(target, "wb") as copied:
                shutil.copyfileobj(tensors, copied)
            return
        if member.name == paths.RUN:
            target.write_bytes(self._run(member.path))
            return
        lines = self._rows if member.name.endswith(".jsonl") else self._texts
        try:
            with open(target, "wb") as file:
                file.writelines(lines(member.path))
        except UnicodeError:
            target.unlink()
            self.left_out[BINARIES] += 1

    def _rows(self, path: Path) -> Iterator[bytes]:
        """The lines of a table, without those that are incomplete or not genuine."""
        for line in _lines(path):
            row = self._row(line) if line is not None and line.endswith(b"\n") else None
            if row is None:
                self.left_out[LINES] += 1
            else:
                yield row

    def _row(self, line: bytes) -> bytes | None:
        value = _decoded(line)
        if value is None:
            return None
        try:
            if self.source is not None:
                value = self.source.json(value)
            if self.redactor is not None:
                value = self.redactor.json(value)
            return msgspec.json.encode(value) + b"\n"
        except (RecursionError, UnicodeError):
            return None

    def _texts(self, path: Path) -> Iterator[bytes]:
        """The lines of a text; raises UnicodeError if the file is none."""
        texts = self._decoded_lines(path)
        for text in texts if self.redactor is None else self.redactor.lines(texts):
            yield text.encode("utf-8")
        if self.source is not None:
            self.source.end()

    def _decoded_lines(self, path: Path) -> Iterator[str]:
        for line in _lines(path):
            if line is None:
                self.left_out[LINES] += 1
                continue
            text = line.decode("utf-8")
            if "\0" in text:
                raise UnicodeError("bytes, not text")
            bare = text.rstrip("\r\n")
            yield text if self.source is None else self.source.line(bare) + text[len(bare) :]

    def _run(self, path: Path) -> bytes:
        run: dict[str, Any] = msgspec.to_builtins(Dump(path.parent).run)
        if self.source is not None:
            run = self.source.json(run)
        if self.redactor is not None:
            run = self.redactor.run(run)
        return _run_text(msgspec.convert(run, Run))


def _record_sizes(path: Path) -> None:
    """Let a run.json give the sizes of the tables beside it: those of a copy are other ones."""
    run = Dump(path.parent).run
    if run.tables is not None:
        path.write_bytes(_run_text(msgspec.structs.replace(run, tables=table_sizes(path.parent))))


def _run_text(run: Run) -> bytes:
    """A run.json."""
    return msgspec.json.format(msgspec.json.encode(run), indent=2) + b"\n"


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
    """The files that can be opened and have no more bytes than is packed; raises CommandError if run.json cannot."""
    found, room = [], MOST
    for member in members:
        try:
            with open(opened(member.path), "rb") as file:
                size = os.fstat(file.fileno()).st_size
        except OSError as error:
            if member.place == (paths.RUN,):
                raise CommandError(f"{member.path}: cannot be read ({error.strerror or error})") from None
            left_out[UNREADABLE] += 1
            continue
        if size > min(LARGEST, room):
            left_out[TOO_LARGE] += 1
            continue
        room -= size
        found.append(member)
    return found
