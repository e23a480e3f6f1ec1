"""The disassembly of compiled kernels by the GPU vendor's tool, if it is installed.

Only the configuration that runs is disassembled, or the first: a tool takes a third of a second for each, and the
program's end waits for it. The tool is run only on what this machine has just compiled, never on a dump that somebody
opens.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Binary
from inspect_compile.graph import Graphs
from inspect_compile.graph.kernels.binaries import configurations, of_kernels
from inspect_compile.tables.text import unbroken

SECONDS: Final = 20.0
"""Time limit for a dump; what is left then is not disassembled."""

_PLACE: Final = re.compile(r'(?:## File )?"(?:[^"\n]*/)?([^"/\n]+)", line (\d+)')
"""A source line as nvdisasm writes it; torch's kernel files need no folder."""
_IN_PTX: Final = "//.nv_debug_ptx_txt:"
"""nvdisasm's name for the input of ptxas, which is the ptx stage."""

_AT_ONCE: Final = 4
_TOO_LONG: Final = f"those of all kernels take longer than {SECONDS:.0f} s"
_ROCM: Final = "/opt/rocm/llvm/bin"


def disassemble(dump: Dump, write: Callable[[Path, str], None]) -> list[str]:
    """Write each disassembly beside its machine code; returns what failed, in sentences.

    If one cannot be made, its file contains the reason.
    """
    found = [(graph.name, rows[0]) for graph in Graphs(dump) for rows in of_kernels(configurations(graph)).values()]
    if not found:
        return []
    reasons: dict[str, str] = {}
    end = time.monotonic() + SECONDS

    def one(graph: str, binary: Binary) -> None:
        stage = binary.stages[-1] if binary.stages else None
        if stage is None or stage.name not in paths.DISASSEMBLIES:
            return
        file = dump.folder(graph) / stage.path
        if paths.inside(dump.root, file) and file.is_file():
            text = _text(file, stage.name, binary.target, end, reasons)
            write(file.with_name(paths.disassembly(file.name, stage.name)), text)

    with ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as pool:
        list(pool.map(lambda work: one(*work), found))
    return [f"no disassembly for {target}: {reason}" for target, reason in reasons.items()]


def _text(file: Path, kind: str, target: str, end: float, reasons: dict[str, str]) -> str:
    """The disassembly; the tool is not run again for a target that has a reason why there is none."""
    if target not in reasons:
        try:
            return _disassembled(file, kind, target, end - time.monotonic())
        except _DisassemblyError as error:
            reasons.setdefault(target, unbroken(str(error)))
    return f"// not made: {reasons[target]}\n"


class _DisassemblyError(Exception):
    """Why a disassembly cannot be made."""


def _disassembled(file: Path, kind: str, target: str, seconds: float) -> str:
    command = _nvidia() if kind == "cubin" else _amd(target)
    if seconds <= 0:
        raise _DisassemblyError(_TOO_LONG)
    try:
        done = subprocess.run(
            [*command, str(file)], stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise _DisassemblyError(_TOO_LONG) from None
    except OSError as error:
        raise _DisassemblyError(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0 or not done.stdout:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit status {done.returncode}"]
        raise _DisassemblyError(f"{os.path.basename(command[0])}: {lines[0]}")
    return _PLACE.sub(r"\1:\2", done.stdout.decode("utf-8", "replace")).replace(_IN_PTX, "//ptx:")


def _nvidia() -> list[str]:
    """Options for code only, each instruction below the source and ptx lines that it comes from."""
    inside = os.path.join("backends", "nvidia", "bin", "nvdisasm")
    tool = os.environ.get("TRITON_NVDISASM_PATH") or _in_triton(inside) or shutil.which("nvdisasm")
    if tool is None:
        raise _DisassemblyError("nvdisasm is not installed; Triton's wheel and the CUDA toolkit include it")
    return [tool, "--print-code", "--print-line-info", "--print-line-info-ptx"]


def _amd(target: str) -> list[str]:
    tool = shutil.which("llvm-objdump", path=_ROCM) or shutil.which("llvm-objdump")
    if tool is None:
        raise _DisassemblyError(
            "llvm-objdump is not installed; ROCm and LLVM include it; the amdgcn stage is assembly too"
        )
    return [tool, "--disassemble", "--triple=amdgcn-amd-amdhsa", f"--mcpu={target}"]


def _in_triton(name: str) -> str | None:
    """A file of the installed triton, found without importing it."""
    found = importlib.util.find_spec("triton")
    places = found.submodule_search_locations if found is not None else None
    return next((path for place in places or () if os.access(path := os.path.join(place, name), os.X_OK)), None)
