"""The assembly of a C++ kernel: its source compiled once more, with the flags that the torch here uses for kernels.

Only for a person who asks for that kernel. The source may be anyone's. It is compiled, assembled and disassembled,
never linked, loaded or run; no shell is in between; the flags are torch's and ours, never the dump's. A source that
asks for more than torch's kernels do, a file of its own choice or inline assembly, is refused, and the compiler has a
limit of time, memory and size. So the worst that a source can do is to be slow to compile.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.errors import CommandError

FILE: Final = "<stdin>"
"""The source, as the disassembly calls it."""

_COMMAND: Final = "inspect_compile.codegen.compiler_command"
_SECONDS: Final = 120
_MEMORY: Final = 4 << 30
_LARGEST: Final = 256 << 20
_LONGEST_SOURCE: Final = 4 << 20

_PLAIN: Final = re.compile(
    r"\s*#\s*(?:include\s*<(?:(?:torch|ATen|c10)/[\w/]+\.h|\w+(?:\.h)?)>|pragma\s+(?:omp|unroll|GCC\s+(?:ivdep|unroll))\b.*"
    r"|(?:if|ifdef|ifndef|elif|else|endif|define|undef)\b.*)\s*"
)
"""Lines with `#` that torch writes."""
_STRANGE: Final = re.compile(
    r"\b(?:__)?asm(?:__)?\b|%:|\?\?|\\\s*$|\b_Pragma\b|\b__has_\w+|\b__attribute__\b|^\s*(?:export|import|module)\b"
)
_LEFT_OUT: Final = re.compile(r"-g\d?|-c")


class Assembly(NamedTuple):
    """What the tools wrote."""

    text: str
    """GNU objdump's, each instruction below the lines that it is of."""
    torch: str
    """The version whose flags it was compiled with."""


def assembly(source: str) -> Assembly:
    """Compile the kernel; CommandError where that can't be done."""
    refused = _strange(source)
    if refused:
        raise CommandError(f"asm: the source is not one that torch writes, and is not compiled: {refused}")
    objdump = shutil.which("objdump")
    if objdump is None:
        raise CommandError("asm: there is no objdump here; GNU binutils have it")
    command, version = _command()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "kernel.o"
        _run([*command, "-g", "-c", "-w", "-x", "c++", "-", "-o", str(made)], source.encode())
        listing = ["--disassemble", "--line-numbers", "--inlines", "--no-show-raw-insn", "--demangle"]
        text = _run([objdump, *listing, str(made)], b"")
    return Assembly(text, version)


def _strange(source: str) -> str:
    """A line that torch would not have written; empty where there is none."""
    if len(source) > _LONGEST_SOURCE:
        return f"it has more than {_LONGEST_SOURCE:,} characters"
    for number, line in enumerate(source.splitlines(), 1):
        if ("#" in line and not _PLAIN.fullmatch(line)) or _STRANGE.search(line):
            return f"line {number}"
    return ""


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
        told = json.loads(done.stdout)
    except (ValueError, subprocess.TimeoutExpired):
        raise CommandError(
            "asm: needs torch and a C++ compiler here; `inspect-compile doctor` says what is missing"
        ) from None
    words: list[str] = [word for word in told["command"] if not _LEFT_OUT.fullmatch(word)]
    at = words.index("-o")
    del words[at : at + 2]
    words.remove("i")
    if shutil.which(words[0]) is None:
        raise CommandError(f"asm: there is no C++ compiler here: torch would call {words[0]}")
    return words, str(told["torch"])


def _run(words: Sequence[str], given: bytes) -> str:
    try:
        done = subprocess.run(
            words, input=given, capture_output=True, timeout=_SECONDS, check=False, preexec_fn=_limit, cwd=os.sep
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"asm: {os.path.basename(words[0])} takes longer than {_SECONDS} s") from None
    except OSError as error:
        raise CommandError(f"asm: {words[0]}: {error.strerror}") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").splitlines()
        line = next((line for line in said if "error" in line), said[0] if said else f"exit status {done.returncode}")
        raise CommandError(f"asm: {os.path.basename(words[0])} refuses the kernel: {line}")
    return done.stdout.decode("utf-8", "replace")


def _limit() -> None:
    for what, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_FSIZE, _LARGEST),
        (resource.RLIMIT_CPU, _SECONDS),
    ):
        resource.setrlimit(what, (most, most))
