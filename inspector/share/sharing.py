"""Turns a dump into a zip: finds its secrets, copies it without them, packs the copy, checks the zip."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from inspect_compile.dump import Dump, paths
from inspect_compile.errors import CommandError
from inspect_compile.facts import Removed, Shared
from inspect_compile.share.archive import Looker, exists, looked_through, pack, whole
from inspect_compile.share.copying import Copy, gather, readable
from inspect_compile.share.members import INPUTS, Member, members
from inspect_compile.share.program_names import ProgramNames
from inspect_compile.share.redact import Redactor
from inspect_compile.share.secrets import Gatherer, Machine, Secrets
from inspect_compile.share.source_lines import SourceLines

SOURCE_LINES: Final = "source lines"

_CONSTANTS_STAY: Final = "numbers in the program's code stay"
_NAMES_STAY: Final = "names of functions, variables, modules and of the program's files stay, and constants in its code"
_SIZES_STAY: Final = "shapes, times, versions and the device stay: they are what a dump is for"
_COMMON_STAY: Final = "names that torch, Python or an installed library also has stay, and those of one or two letters"
_ORDINARY_STAYS: Final = "a user or host name that is a common word or a compiler term stays, except in paths"
_INPUTS_STAY: Final = "inputs and weights of the program are in it, as numbers (without --inputs they are left out)"
_PATHS_STAY: Final = "paths, names and arguments are in it (--redact removes them)"
_LINES_STAY: Final = "the program's source lines are in it (--no-source removes them)"


class SharedFile(msgspec.Struct, frozen=True, tag_field="fact", tag="shared_file"):
    """The zip that `share` wrote. `share --json` prints it."""

    file: str
    bytes: int
    files: int
    """Number of files in it."""
    redacted: bool
    source: bool
    removed: tuple[Removed, ...]
    left_out: tuple[Removed, ...]
    remains: tuple[str, ...]


class _Asked(NamedTuple):
    """The request, and its result so far."""

    dump: Dump
    secrets: Secrets
    copy: Copy
    inputs: bool
    """Tensors of the program's are in it."""


class Redacted(NamedTuple):
    """A copy of a dump without secrets, for what is made of it."""

    name: str
    """The dump's name, without secrets."""
    sentences: tuple[str, ...]
    """What stays in it, in sentences."""
    left_in: Callable[[str], str]
    """The kind of secret that a text still has; empty if it has none."""


def redacted(dump: Dump, into: Path, machine: Machine, *, redact: bool, source: bool) -> Redacted:
    """Copy a dump to the empty folder `into`, as `share` does, without tensors. Without source, it is redacted, too."""
    left_out: Counter[str] = Counter()
    found = readable([member for member in members(dump.root, left_out) if not member.is_inputs], left_out)
    secrets, copy = _copy(dump, found, machine, left_out, redact=redact, source=source)
    copy.write(found, into)
    remains = _shared(_Asked(dump, secrets, copy, inputs=False)).remains
    looker = Looker(secrets)
    left_in = looker.kind if copy.redactor is not None else lambda text: ""
    return Redacted(_name(dump.root.resolve().name, copy.redactor), remains, left_in)


def _copy(
    dump: Dump, found: list[Member], machine: Machine, left_out: Counter[str], *, redact: bool, source: bool
) -> tuple[Secrets, Copy]:
    """What is secret in a dump, and how it is copied without that."""
    gatherer = Gatherer(machine)
    if source and not redact:
        return gatherer.secrets(), Copy(None, None, left_out)
    names = None if source else ProgramNames()
    gather(found, gatherer, names)
    secrets = gatherer.secrets()
    if names is None:
        return secrets, Copy(Redactor(secrets), None, left_out)
    names.folder(dump.root.resolve().name)
    return secrets, Copy(Redactor(secrets, names.names()), SourceLines(), left_out)


def share(
    dump: Dump, output: Path | None, machine: Machine, *, redact: bool, source: bool, inputs: bool = False
) -> SharedFile:
    """Write `output`, or a file named after the dump in this directory or in the folder `output`.

    Without source, it is redacted, too: paths and arguments are the program's texts. With `inputs` the tensors that a
    check of numerics kept are in it, as they are. Raises CommandError if it exists
    already, cannot be written, or would still contain what must not be seen; nothing is left behind then.
    """
    left_out: Counter[str] = Counter()
    there = members(dump.root, left_out)
    if not inputs and (count := sum(member.is_inputs for member in there)):
        left_out[INPUTS] += count
        there = [member for member in there if not member.is_inputs]
    found = readable(there, left_out)
    secrets, copy = _copy(dump, found, machine, left_out, redact=redact, source=source)
    asked = _Asked(dump, secrets, copy, any(member.is_inputs for member in found))
    output = _output(asked, output)
    if os.path.lexists(output):
        raise CommandError(exists(output))
    with whole(output) as beside:
        if copy.redactor is None:
            return _packed(asked, found, output, beside)
        with tempfile.TemporaryDirectory() as folder:
            try:
                copy.write(found, Path(folder))
            except OSError as error:
                raise CommandError(
                    f"{output}: not written, a copy of the dump cannot be made in {tempfile.gettempdir()} "
                    f"({error.strerror or error}); set TMPDIR=FOLDER for another place"
                ) from None
            return _packed(asked, members(Path(folder), Counter()), output, beside)


def _packed(asked: _Asked, found: list[Member], output: Path, beside: Path) -> SharedFile:
    """Write the zip at `beside`, and check it."""
    folder = _name(output.name.removesuffix(".zip"), asked.copy.redactor)
    shared = _shared(asked)
    text = msgspec.json.format(msgspec.json.encode(shared), indent=1) + b"\n"
    kept = [member for member in found if member.place != (paths.SHARED,)]
    count = pack(kept, {paths.SHARED: text}, folder, beside)
    remains = shared.remains
    if asked.copy.redactor is not None:
        look = looked_through(beside, asked.secrets)
        if look.kind:
            raise CommandError(
                f"{output}: not written, {look.member} would still contain {look.kind}; please report this, with the "
                "kind of text that contains it"
            )
        if look.inside:
            remains = (*remains, f"the user's name is a part of longer words, as of a class: {look.inside:,} of them")
    return SharedFile(
        file=str(output),
        bytes=beside.stat().st_size,
        files=count,
        redacted=shared.redacted,
        source=shared.source,
        removed=shared.removed,
        left_out=shared.left_out,
        remains=remains,
    )


def _shared(asked: _Asked) -> Shared:
    """What was removed now, and earlier if the dump had been shared before."""
    before = asked.dump.shared or Shared()
    redacted, source = before.redacted or asked.copy.redactor is not None, before.source and asked.copy.source is None
    taken = list(asked.copy.redactor.removed()) if asked.copy.redactor is not None else []
    if asked.copy.source is not None and asked.copy.source.count:
        taken.append(Removed(SOURCE_LINES, asked.copy.source.count))
    left = [Removed(what, count) for what, count in sorted(asked.copy.left_out.items())]
    remains = [_CONSTANTS_STAY, _COMMON_STAY] if not source else [_NAMES_STAY if redacted else _PATHS_STAY, _LINES_STAY]
    remains += [_INPUTS_STAY] if asked.inputs else []
    remains += [_ORDINARY_STAYS] if asked.secrets.ordinary and asked.copy.redactor is not None else []
    return Shared(
        redacted=redacted,
        source=source,
        removed=_joined(before.removed, taken),
        left_out=_joined(before.left_out, left),
        remains=(*remains, _SIZES_STAY),
    )


def _joined(before: tuple[Removed, ...], now: list[Removed]) -> tuple[Removed, ...]:
    kinds = {row.what: row for row in before}
    for row in now:
        old = kinds.get(row.what)
        kinds[row.what] = row if old is None else Removed(row.what, old.count + row.count, old.stands_as)
    return tuple(kinds.values())


def _output(asked: _Asked, output: Path | None) -> Path:
    if output is not None and not output.is_dir():
        return output
    name = _name(asked.dump.root.resolve().name, asked.copy.redactor)
    return (output or Path()) / f"{name}{'-redacted' if asked.copy.redactor is not None else ''}.zip"


def _name(name: str, redactor: Redactor | None) -> str:
    """`name` as the name of a folder in the zip."""
    return paths.safe_name(name if redactor is None else redactor.text(name))
