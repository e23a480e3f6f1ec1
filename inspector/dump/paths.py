"""All paths in a dump."""

import functools
import re
from pathlib import Path
from typing import Final

from inspect_compile.facts.nesting import nested_path

BASE: Final = "torch_compile_debug"
"""The folder of torch's own debug output; also for dumps without --dump."""

RUN: Final = "run.json"
SCRIPT_LOG: Final = "script.log"
GRAPHS: Final = "torchinductor"
OVERVIEW: Final = "overview.json"
"""What the overview tells, kept at the end of the run."""
STEPS_TRACE: Final = "steps.trace.json.gz"
"""A profile of some steps of the program, of `run --measure`."""
FINISHED: Final = ".finished"
"""Exists in a dump whose derived files are complete."""
SHARED: Final = "shared.json"
"""Exists in a dump that came from `share`: says what was taken out."""
FINISHING: Final = ".finishing"
"""Locked while the derived files are made by a process that the program left behind."""
CLAIMED: Final = ".claimed"
"""Exists in the dump of a command that is no Python program, once one of its processes writes the top of the dump."""
LAUNCH: Final = ".launch"
"""Exists in the dump of ranks that were started separately: names their launch."""
RANK: Final = "rank_"
PROCESS: Final = "process_"
TARGET: Final = "target_"
"""Prefixes of the folders of ranks, of other processes, and of targets."""
REPLAY: Final = "replay_"
"""Prefix of the folders of replays."""
TRIALS: Final = "trials"
"""Folder of the requests, answers and outputs of the runs of `tune`."""
WORKER_LOG: Final = "compiler.log"
"""In the folder of a target or replay: the output of the process that compiled there."""

FX_RUNNABLE: Final = "fx_graph_runnable.py"
FX_READABLE: Final = "fx_graph_readable.py"
FX_TRANSFORMED: Final = "fx_graph_transformed.py"
IR_PRE_FUSION: Final = "ir_pre_fusion.txt"
IR_POST_FUSION: Final = "ir_post_fusion.txt"
OUTPUT_CODE: Final = "output_code"
"""With `.py`, or `.cpp` for a C++ wrapper."""
PROVENANCE: Final = "inductor_provenance_tracking_node_mappings.json"

LOWERING: Final = "lowering.txt"
FUSION: Final = "fusion.txt"
KERNELS_TEXT: Final = "kernels.txt"
FLOPS: Final = "flops.txt"
MEMORY: Final = "memory.txt"
KERNEL_MAP: Final = "kernel_map.json"
SCHEDULE_PRE_FUSION: Final = "schedule_pre_fusion"
SCHEDULE_POST_FUSION: Final = "schedule_post_fusion"
"""Each with `.dot`, and with `.svg` if requested."""
DRAWINGS: Final = (
    "schedule", "fusion", "fx", "kernel", "node", "dynamo", "memory", "roofline", "timeline", "startup", "ranks",
)  # fmt: skip
"""What the names of drawings begin with; those of a nested graph have its name before that."""
DRAWN: Final = (".dot", ".svg", ".png", ".pdf")
KERNELS: Final = "kernels"
INPUTS: Final = "inputs"
"""Folder of what wrong launches, and the calls around them, were given."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_.+-]")
_LONGEST: Final = 150
_ENDING: Final = 16
"""Maximum length of a path component, and of a suffix added to it: together less than a file system's 255 bytes."""


def is_safe(name: str) -> bool:
    """True if a file of a dump can have that name, with an extension added."""
    return bool(name) and len(name) <= _LONGEST + _ENDING and not name.startswith(".") and not _UNSAFE.search(name)


def safe_name(name: str) -> str:
    """`name` as one path component: no separators, no leading dot, at most 150 characters.

    A safe name stays unchanged. A changed name ends with a hash of the original, so that no two names become equal; for
    case-insensitive file systems see `cased_name`.
    """
    return name if len(name) <= _LONGEST and is_safe(name) else _hashed(name)


def cased_name(name: str) -> str:
    """The same for names that may differ only in case, which are one file on macOS and Windows."""
    return safe_name(name) if name == name.lower() else _hashed(name)


def _hashed(name: str) -> str:
    """The part of `name` that can be kept, and a hash of all of it."""
    import hashlib  # takes longer to load than all of our own here, and few names need it

    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    kept = _UNSAFE.sub("_", name)[: _LONGEST - len(digest) - 2]
    return f"{'_' if kept.startswith('.') else ''}{kept}-{digest}"


def kernel_folder(graph: str, kernel: str) -> str:
    """Folder of a kernel's source and stages, relative to the folder of `graph`.

    Nested graphs use the folder of their outermost graph; a graph that torch compiles for benchmarking names its
    kernels like that graph.
    """
    nested = nested_path(graph)
    return f"{KERNELS}/{cased_name(f'{nested}.{kernel}' if nested else kernel)}"


@functools.lru_cache(maxsize=1024)
def graph_folder(graph: str) -> str:
    """Folder of the files of `graph`, relative to the dump: nested graphs share their outermost graph's folder."""
    return f"{GRAPHS}/{safe_name(graph.split('/', 1)[0])}"


@functools.lru_cache(maxsize=1024)
def ir_text(name: str, graph: str) -> str:
    """IR_PRE_FUSION or IR_POST_FUSION of `graph`, in its folder: a nested graph has a file of its own there."""
    nested = ".".join(graph.split("/")[1:])
    stem, _, extension = name.rpartition(".")
    return f"{stem}.{safe_name(nested)}.{extension}" if nested else name


_IR_TEXT: Final = re.compile(r"ir_(?:pre|post)_fusion(?:\.(?P<nested>.+))?\.txt")


def is_ir_text(name: str) -> bool:
    """True if `ir_text` can have given that name."""
    found = _IR_TEXT.fullmatch(name)
    return found is not None and (found["nested"] is None or found["nested"] == safe_name(found["nested"]))


def inputs_file(graph: str, call: int, line: int | None = None) -> str:
    """File with the inputs of a call of `graph`, or of the launch at `line` of output_code.py; relative to the dump."""
    return f"{graph_folder(graph)}/{INPUTS}/call_{call}{'' if line is None else f'-line_{line}'}.pt"


@functools.lru_cache(maxsize=1024)
def table(name: str, graph: str | None) -> str:
    """A table's file, relative to the dump; `graph` is None for tables at the top."""
    return f"{name}.jsonl" if graph is None else f"{graph_folder(graph)}/{name}.jsonl"


DISASSEMBLIES: Final = {"cubin": "sass", "hsaco": "isa"}
"""Machine code stage → extension of its disassembly."""


def disassembly(path: str, stage: str) -> str:
    """Path of the disassembly of the machine code in the file `path`."""
    return f"{path.removesuffix(f'.{stage}')}.{DISASSEMBLIES[stage]}"


def rank_folder(rank: int) -> str:
    """Folder of a rank of a distributed run."""
    return f"{RANK}{rank}"


def process_folder(rank: int | None, pid: int, number: int = 1) -> str:
    """Folder of any other process of a run, including those that a rank starts.

    `number` distinguishes processes with the same id: one that becomes another program (exec) keeps its id.
    """
    name = f"{PROCESS}{pid}" if rank is None else f"{rank_folder(rank)}-pid_{pid}"
    return name if number == 1 else f"{name}-{number}"


def target_folder(target: str) -> str:
    """Folder of what was compiled for `target`, within the part of the process."""
    return f"{TARGET}{target}"


def replay_folder(number: int) -> str:
    """Folder of a replay, within the part of its graph."""
    return f"{REPLAY}{number}"


def inside(root: Path, path: Path) -> bool:
    """True if `path`, with links followed, is inside `root`. A dump is untrusted."""
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):  # not a file name, or a circle of links
        return False
