"""Every path of a dump, in one place."""

import functools
import hashlib
import re
from pathlib import Path
from typing import Final

BASE: Final = "torch_compile_debug"
"""The folder that torch's own debug output goes to; dumps without --dump go there too."""

RUN: Final = "run.json"
SCRIPT_LOG: Final = "script.log"
GRAPHS: Final = "torchinductor"
FINISHED: Final = ".finished"
"""Stands in a dump whose derived files are complete."""
SHARED: Final = "shared.json"
"""Stands in a dump that came out of `share`: what was taken out of it."""
FINISHING: Final = ".finishing"
"""Locked while the derived files of a dump are made by a process that its program has left behind."""
CLAIMED: Final = ".claimed"
"""Stands in the dump of a command that is no Python program, once one of its processes writes the top of the dump."""
LAUNCH: Final = ".launch"
"""Stands in the dump of ranks that were each started with a command of ours: which launch they belong to."""
RANK: Final = "rank_"
PROCESS: Final = "process_"
TARGET: Final = "target_"
"""How the folders of ranks begin, of other processes, and of what was compiled for a GPU that was not there."""
REPLAY: Final = "replay_"
"""How the folders begin in which a recorded graph was compiled again."""
WORKER_LOG: Final = "compiler.log"
"""In the folder of a target or a replay: what the process that compiled there printed."""

FX_RUNNABLE: Final = "fx_graph_runnable.py"
FX_READABLE: Final = "fx_graph_readable.py"
FX_TRANSFORMED: Final = "fx_graph_transformed.py"
IR_PRE_FUSION: Final = "ir_pre_fusion.txt"
IR_POST_FUSION: Final = "ir_post_fusion.txt"
OUTPUT_CODE: Final = "output_code"
"""With `.py`, or `.cpp` where the wrapper is C++."""
PROVENANCE: Final = "inductor_provenance_tracking_node_mappings.json"

LOWERING: Final = "lowering.txt"
FUSION: Final = "fusion.txt"
KERNELS_TEXT: Final = "kernels.txt"
FLOPS: Final = "flops.txt"
MEMORY: Final = "memory.txt"
KERNEL_MAP: Final = "kernel_map.json"
SCHEDULE_PRE_FUSION: Final = "schedule_pre_fusion"
SCHEDULE_POST_FUSION: Final = "schedule_post_fusion"
"""Each with `.dot`, and `.svg` when asked for."""
KERNELS: Final = "kernels"

_UNSAFE = re.compile(r"[^A-Za-z0-9_.+-]")
_LONGEST: Final = 150
_ENDING: Final = 16
"""Characters of a path component, and of what is added to it: together less than the 255 bytes of a file system."""


def is_safe(name: str) -> bool:
    """Can a file of a dump be called that, an ending included?"""
    return bool(name) and len(name) <= _LONGEST + _ENDING and not name.startswith(".") and not _UNSAFE.search(name)


def safe_name(name: str) -> str:
    """`name` as one path component: no separators, no leading dot, at most 150 characters.

    A safe name stays as it is. What had to be changed ends with a hash of the whole name, so that no two names become
    one; file systems that take `A` for `a` ask for `cased_name`.
    """
    return name if len(name) <= _LONGEST and is_safe(name) else _hashed(name)


def cased_name(name: str) -> str:
    """The same for names that may differ in case alone, which is one file on macOS and Windows."""
    return safe_name(name) if name == name.lower() else _hashed(name)


def _hashed(name: str) -> str:
    """What can be kept of `name`, and a hash of all of it."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    kept = _UNSAFE.sub("_", name)[: _LONGEST - len(digest) - 2]
    return f"{'_' if kept.startswith('.') else ''}{kept}-{digest}"


def kernel_folder(graph: str, kernel: str) -> str:
    """Where the source and the stages of a kernel stand, relative to the folder of `graph`.

    Nested graphs stand in the folder of their outermost graph; one that torch compiles to measure it names its kernels
    as that graph does.
    """
    nested = graph.partition("/")[2]
    return f"{KERNELS}/{cased_name(f'{nested}.{kernel}' if nested else kernel)}"


@functools.lru_cache(maxsize=1024)
def graph_folder(graph: str) -> str:
    """Where the files of `graph` stand, relative to the dump: nested graphs share their outermost graph's folder."""
    return f"{GRAPHS}/{safe_name(graph.split('/', 1)[0])}"


@functools.lru_cache(maxsize=1024)
def table(name: str, graph: str | None) -> str:
    """A table's file, relative to the dump; `graph` is None for the tables at the top."""
    return f"{name}.jsonl" if graph is None else f"{graph_folder(graph)}/{name}.jsonl"


DISASSEMBLIES: Final = {"cubin": "sass", "hsaco": "isa"}
"""Stage that is machine code → how the name of its disassembly ends."""


def disassembly(path: str, stage: str) -> str:
    """The file of the disassembly of the machine code in the file `path`."""
    return f"{path.removesuffix(f'.{stage}')}.{DISASSEMBLIES[stage]}"


def rank_folder(rank: int) -> str:
    """Where a rank of a distributed run keeps its part."""
    return f"{RANK}{rank}"


def process_folder(rank: int | None, pid: int, number: int = 1) -> str:
    """Where any other process of a run keeps its part, those that a rank starts too.

    `number` counts those with the same id: a process that has become another program (exec) keeps it.
    """
    name = f"{PROCESS}{pid}" if rank is None else f"{rank_folder(rank)}-pid_{pid}"
    return name if number == 1 else f"{name}-{number}"


def target_folder(target: str) -> str:
    """Where a process keeps what was compiled for `target`, below its own part."""
    return f"{TARGET}{target}"


def replay_folder(number: int) -> str:
    """Where a graph that was compiled again stands, below the part that the graph is of."""
    return f"{REPLAY}{number}"


def inside(root: Path, path: Path) -> bool:
    """Does `path`, links followed, stand in `root`? A dump may come from anyone."""
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):  # no name of a file, or links that lead in a circle
        return False
