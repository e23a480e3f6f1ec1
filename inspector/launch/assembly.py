"""The assembly of a C++ kernel: its source compiled again with the flags that this machine's torch uses for kernels.

Only for a user who asks for that kernel. A source may be untrusted, and a compiler given a hostile one reads files of
its choice. So only what torch generated here is compiled, as its cache shows, unless the user vouches for the dump. It
is compiled, assembled and disassembled, never linked, loaded or run; no shell is involved; the flags are torch's and
ours, never the dump's; the compiler is limited in time, memory and file size.
"""

import getpass
import json
import os
import re
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.errors import CommandError

FILE: Final = "<stdin>"
"""The name of the source in the disassembly."""

_COMMAND: Final = "inspect_compile.codegen.kernels.compiler_command"
_SECONDS: Final = 120
_MEMORY: Final = 4 << 30
_LARGEST: Final = 256 << 20
_MOST_CACHED: Final = 100_000
"""Maximum number of files in torch's cache that are searched."""
_AROUND: Final = 1 << 16
"""Bytes that torch adds around a kernel's source when it compiles it: the code for calls from Python."""

_LEFT_OUT: Final = re.compile(r"-g\d?|-c")


class Assembly(NamedTuple):
    """The output of the tools."""

    text: str
    """GNU objdump's text, each instruction below the source lines that it comes from."""
    torch: str
    """The torch version whose flags were used."""
    file: str = FILE
    """The name of the source in the text."""


def assembly(source: str, *, is_trusted: bool = False) -> Assembly:
    """Compile the kernel; raises CommandError if that cannot be done, or torch's cache here has no such source."""
    if not is_trusted and not _is_of_torch(source):
        raise CommandError(
            "torch's cache here does not have this kernel, so its source may be anyone's, and a compiler reads "
            "whatever files a source names; if you trust the dump, --compile compiles it anyway"
        )
    objdump = shutil.which("objdump")
    if objdump is None:
        raise CommandError("objdump is not installed; it is part of GNU binutils")
    command, version = _command()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "kernel.o"
        _run([*command, "-g", "-c", "-w", "-x", "c++", "-", "-o", str(made)], source.encode())
        listing = ["--disassemble", "--line-numbers", "--inlines", "--no-show-raw-insn", "--demangle"]
        text = _run([objdump, *listing, str(made)], b"")
    return Assembly(text, version)


def _is_of_torch(source: str) -> bool:
    """True if it is, to the byte, a kernel in this user's own torch cache."""
    wanted = source.strip().encode()
    try:
        cache = os.environ.get("TORCHINDUCTOR_CACHE_DIR") or default_cache(getpass.getuser())
        return bool(wanted) and any(_holds(file, wanted) for file in _own_files(Path(cache)))
    except (OSError, KeyError, ImportError):  # no such folder, or the user's name is not known
        return False


def default_cache(user: str) -> str:
    """Where torch keeps what it compiles, like `default_cache_dir` in its cache_dir_utils.py."""
    return os.path.join(tempfile.gettempdir(), "torchinductor_" + re.sub(r'[\\/:*?"<>|]', "_", user))


def _own_files(cache: Path) -> Iterator[Path]:
    """C++ files in folders that belong to this user, so that nobody else has put them there."""
    if not _is_own(os.stat(cache)):
        return
    left = _MOST_CACHED
    for folder in list(os.scandir(cache)):
        if not folder.is_dir(follow_symlinks=False) or not _is_own(folder.stat(follow_symlinks=False)):
            continue
        for file in list(os.scandir(folder.path)):
            left -= 1
            if left < 0:
                return
            if file.name.endswith(".cpp") and file.is_file(follow_symlinks=False):
                yield Path(file.path)


def _is_own(status: os.stat_result) -> bool:
    """True if it belongs to this user, and nobody else can write to it."""
    others = stat.S_IWOTH if status.st_gid == os.getgid() else stat.S_IWOTH | stat.S_IWGRP
    return status.st_uid == os.getuid() and not status.st_mode & others


def _holds(file: Path, wanted: bytes) -> bool:
    try:
        status = os.stat(file)
        if not _is_own(status) or not len(wanted) <= status.st_size <= len(wanted) + _AROUND:
            return False
        return file.read_bytes().lstrip().startswith(wanted)
    except OSError:
        return False


def _command() -> tuple[list[str], str]:
    """The compiler and its flags, without files, as torch would use them here."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", _COMMAND],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        answer = json.loads(done.stdout)
    except (ValueError, subprocess.TimeoutExpired):
        raise CommandError(
            "that needs torch and a C++ compiler; `inspect-compile doctor` says what is missing"
        ) from None
    words: list[str] = [word for word in answer["command"] if not _LEFT_OUT.fullmatch(word)]
    at = words.index("-o")
    del words[at : at + 2]
    words.remove("i")
    if shutil.which(words[0]) is None:
        raise CommandError(f"no C++ compiler is installed: torch would call {words[0]}")
    return words, str(answer["torch"])


def _run(words: Sequence[str], given: bytes) -> str:
    try:
        done = subprocess.run(
            words, input=given, capture_output=True, timeout=_SECONDS, check=False, preexec_fn=_limit, cwd=os.sep
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"{os.path.basename(words[0])} takes longer than {_SECONDS} s") from None
    except OSError as error:
        raise CommandError(f"{words[0]}: {error.strerror}") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").splitlines()
        line = next((line for line in said if "error" in line), said[0] if said else f"exit status {done.returncode}")
        raise CommandError(f"{os.path.basename(words[0])} refuses the kernel: {line}")
    return done.stdout.decode("utf-8", "replace")


def _limit() -> None:
    for what, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_FSIZE, _LARGEST),
        (resource.RLIMIT_CPU, _SECONDS),
    ):
        resource.setrlimit(what, (most, most))
