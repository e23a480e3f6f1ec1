"""Makes a dump of what others recorded: says what a path is, and reads it."""

import hashlib
import os
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile import __version__
from inspect_compile.dump import Dump, paths
from inspect_compile.dump.writer import Writer
from inspect_compile.errors import DumpError
from inspect_compile.facts import OriginRecords, Run
from inspect_compile.knowledge.origins import ARCHIVE, FOLDER
from inspect_compile.origins.archives import is_archive, unpack
from inspect_compile.origins.debug_folder import is_debug_folder, read_debug_folder
from inspect_compile.origins.inductor_cache import is_inductor_cache, read_inductor_cache
from inspect_compile.origins.packages import is_package, read_package
from inspect_compile.origins.runnables import is_minifier_folder, is_runnable, read_minifier_folder, read_runnable
from inspect_compile.origins.torch_trace.logs import logs_at, read_logs
from inspect_compile.origins.triton_cache import is_triton_cache, read_triton_cache
from inspect_compile.origins.tritonparse import is_tritonparse_log, read_tritonparse_log
from inspect_compile.origins.vllm_cache import is_vllm_cache, read_vllm_cache

_MOST_FILES: Final = 100_000
_MOST_LOOKED_AT: Final = 1000
"""Maximum number of files of an archive or folder that are tried one by one."""
_MOST_FOLDERS: Final = 10_000
_MOST_FOUND: Final = 1000
"""Maximum number of parts of a dump."""


class Reader(NamedTuple):
    """Reads one kind of origin."""

    is_one: Callable[[Path], bool]
    """Whether a path is one."""
    read: Callable[[Path, Path], None]
    """Makes a dump, a new directory, of it; raises DumpError and OSError."""
    is_whole: bool = True
    """Of a folder, it reads all folders in it, too."""


def _is_dump(path: Path) -> bool:
    return (path / paths.RUN).is_file()


def _copy(path: Path, root: Path) -> None:
    shutil.copytree(path, root, symlinks=True)


def _reader(path: Path, *, is_within: bool = False) -> Reader | None:
    """What reads it; within an archive those in it are unpacked by then, and a dump can be there."""
    return next((reader for reader in (_WITHIN if is_within else READERS) if reader.is_one(path)), None)


def is_readable(path: Path) -> bool:
    """Whether `path` is something that others wrote and that a dump can be made of, or an archive."""
    return _reader(path) is not None


def read_into(path: Path, root: Path) -> Dump:
    """Make the dump `root`, a new directory, of what is at `path`. Raises DumpError if it cannot be read."""
    try:
        if (reader := _reader(path)) is None:
            raise DumpError("none", "nothing that can be read", str(path))
        with warnings.catch_warnings():  # Python's parser would tell of a text's on the terminal
            warnings.simplefilter("ignore", SyntaxWarning)
            reader.read(path, root)
    except OSError as error:
        raise DumpError("unreadable", f"can't be read ({error.strerror or error})", str(path)) from None
    return Dump(root)


def _read_archive(path: Path, root: Path) -> None:
    """Read all that an archive holds; of several origins each is a part of the dump."""
    with tempfile.TemporaryDirectory(prefix="inspect-compile-", ignore_cleanup_errors=True) as folder:
        left_out = unpack(path, Path(folder))
        found = list(_found(Path(folder)))
        if not found:
            why = f"; left out: {_counted(left_out)}" if left_out else ""
            raise DumpError("file", f"an archive with nothing in it that can be read{why}", str(path))
        _read_all(found, ARCHIVE, path.name, root)
        if Dump(root).run.origin:
            writer = Writer(root)
            for why, count in sorted(left_out.items()):
                writer.add(OriginRecords(what=f"files: {why}", count=count, became="not read"))
            writer.flush()


def _read_all(found: Sequence[tuple[Reader, Path]], origin: str, name: str, root: Path) -> None:
    """Make a dump of what was found in `origin`: of several each is a part."""
    if len(found) == 1:
        [(reader, place)] = found
        reader.read(place, root)
        return
    root.mkdir(parents=True)
    for number, (reader, place) in enumerate(found[:_MOST_FOUND], 1):
        reader.read(place, root / f"{paths.PROCESS}{number}")
    Writer(root).run(Run(status="ranks", origin=origin, argv=(name,)))
    (root / paths.FINISHED).touch()


def _is_folder(path: Path) -> bool:
    return path.is_dir() and next(_found(path), None) is not None


def _read_folder(path: Path, root: Path) -> None:
    """Read all that lies in a folder, as in an archive."""
    _read_all(list(_found(path)), FOLDER, path.name, root)


def _counted(left_out: Counter[str]) -> str:
    return ", ".join(f"{count:,} ({why})" for why, count in sorted(left_out.items()))


def _found(top: Path) -> Iterator[tuple[Reader, Path]]:
    """Each origin in a folder, which may be one that was unpacked."""
    tries = _MOST_LOOKED_AT
    for folder, names, files in islice(os.walk(top), _MOST_FOLDERS):
        names.sort()
        place = Path(folder)
        reader = _reader(place, is_within=True)
        if reader is not None:
            yield reader, place
            if reader.is_whole:
                names.clear()
            continue
        for name in sorted(files)[:tries]:
            tries -= 1
            if (reader := _reader(place / name, is_within=True)) is not None:
                yield reader, place / name


READERS: Final = (
    Reader(is_package, read_package),
    Reader(is_archive, _read_archive),
    Reader(_is_folder, _read_folder),
    Reader(lambda path: bool(logs_at(path)), read_logs, is_whole=False),
    Reader(lambda path: path.is_dir() and is_debug_folder(path), read_debug_folder),
    Reader(is_minifier_folder, read_minifier_folder),
    Reader(is_runnable, read_runnable),
    Reader(is_inductor_cache, read_inductor_cache),
    Reader(is_triton_cache, read_triton_cache),
    Reader(is_tritonparse_log, read_tritonparse_log),
    Reader(is_vllm_cache, read_vllm_cache, is_whole=False),
)
_OF_SEVERAL: Final = (_read_archive, _read_folder)
_WITHIN: Final = (Reader(_is_dump, _copy), *(reader for reader in READERS if reader.read not in _OF_SEVERAL))


def kept(path: Path, cache: Path) -> Dump:
    """The dump of what others wrote at `path`, kept in the folder `cache` until a file of it changes."""
    root = cache / f"{paths.safe_name(path.absolute().name)[:60]}-{_fingerprint(path)}"
    if not (root / paths.FINISHED).exists():
        beside = root.with_name(f"{root.name}.{os.getpid()}.tmp")
        shutil.rmtree(beside, ignore_errors=True)
        try:
            read_into(path, beside)
            shutil.rmtree(root, ignore_errors=True)
            beside.replace(root)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return Dump(root, name=str(path))


def _fingerprint(path: Path) -> str:
    """Changes with the size and time of each file at `path`."""
    digest = hashlib.sha256(__version__.encode())
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    for file in files[:_MOST_FILES]:
        status = file.stat()
        words = f"{file.absolute()}\0{status.st_size}\0{status.st_mtime_ns}\0"
        digest.update(words.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where dumps of logs are kept: $XDG_CACHE_HOME/inspect-compile/origins, else below ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "inspect-compile" / "origins"
