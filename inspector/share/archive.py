"""The zip: one folder with the dump, byte for byte the same for the same dump; and a check of it for secrets."""

import contextlib
import itertools
import os
import re
import shutil
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.dump import files
from inspect_compile.errors import CommandError
from inspect_compile.share import credentials, encodings, patterns
from inspect_compile.share.members import Member, opened
from inspect_compile.share.secrets import Secrets

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can store."""
_LARGE: Final = 1 << 31
_CHUNK: Final = 8 << 20
_TELLING: Final = 4
"""Minimum length in characters of a name that is searched inside words: shorter ones are part of too many."""


@contextlib.contextmanager
def whole(output: Path) -> Iterator[Path]:
    """Where to write `output`, which is not there yet; CommandError where it is meanwhile, or that fails."""
    try:
        with files.whole(output) as beside:
            yield beside
            if os.path.lexists(output):
                raise CommandError(exists(output))
    except OSError as error:
        raise CommandError(f"{output}: cannot be written ({error.strerror or error}); choose a place with -o") from None


def exists(output: Path) -> str:
    """The error message if a file already exists."""
    return f"{output}: already exists; name another file with -o, or remove it first"


def pack(members: Iterable[Member], texts: dict[str, bytes], folder: str, path: Path) -> int:
    """Write the zip; returns its number of files. Raises OSError."""
    count = 0
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(texts.items()):
            archive.writestr(_info(f"{folder}/{name}"), data)
            count += 1
        for member in sorted(members, key=lambda member: member.place):
            with open(opened(member.path), "rb") as file:
                is_large = os.fstat(file.fileno()).st_size >= _LARGE
                with archive.open(_info("/".join((folder, *member.place))), "w", force_zip64=is_large) as packed:
                    shutil.copyfileobj(file, packed, _CHUNK)
            count += 1
    return count


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info


class Look(NamedTuple):
    """The result of checking a zip."""

    kind: str = ""
    """The kind of secret that it still contains; empty if it contains none."""
    member: str = ""
    inside: int = 0
    """How often a user's name is part of a longer word, as in the name of a class."""


class Looker:
    """Searches texts for each secret, also decoded."""

    def __init__(self, secrets: Secrets) -> None:
        kinds = {
            "a user name": patterns.words(secrets.users),
            "a host name": patterns.words(secrets.hosts),
            "a home directory": patterns.places(secrets.homes),
            "the program's directory": patterns.places(secrets.programs),
            "the working directory": patterns.places(secrets.cwds),
        }
        self._looks = [
            (kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in kinds.items() if pattern != "(?!)"
        ]
        self._looks += [("a credential", credentials.TOKEN), ("a private key", credentials.PEM_BEGINS)]
        longer = [user for user in secrets.users if len(user) >= _TELLING]
        self._part = re.compile("|".join(map(re.escape, longer)) or "(?!)", re.IGNORECASE)
        self.inside = 0
        """How often a user's name was part of a longer word in what was looked at."""

    def kind(self, piece: str) -> str:
        """The kind of secret that is in a text; empty if there is none."""
        for text in (piece, *encodings.hidden(piece)):
            for kind, look in self._looks:
                if look.search(text):
                    return kind
        self.inside += sum(1 for _ in self._part.finditer(piece))
        return ""


def looked_through(path: Path, secrets: Secrets) -> Look:
    """Search the names and contents of all files, as they come out of the zip."""
    looker = Looker(secrets)
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            for piece in itertools.chain((info.filename,), _pieces(archive, info)):
                if kind := looker.kind(piece):
                    return Look(kind, info.filename)
    return Look(inside=looker.inside)


def _pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[str]:
    """The contents, in pieces that end at line ends."""
    waiting = b""
    with archive.open(info) as file:
        while data := file.read(_CHUNK):
            lines, end, rest = data.rpartition(b"\n")
            if end:
                yield (waiting + lines).decode("utf-8", "replace")
                waiting = rest
            else:
                waiting += rest
    yield waiting.decode("utf-8", "replace")
