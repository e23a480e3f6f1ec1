"""What others' records of a compile hold, and what they do not."""

from typing import Final, NamedTuple

from inspect_compile.knowledge.overview.findings import BREAK, CACHE, CACHE_MISS, FAILED, RECOMPILE, RECOMPILE_LIMIT


class Origin(NamedTuple):
    """A kind of record that a dump can be made of."""

    tables: frozenset[str]
    """The tables of `show` that it has something for, and the pictures, `draw fx`."""
    findings: frozenset[str]
    """The kinds of findings that can be seen in it."""
    lacks: str
    """What it does not hold, in words."""
    has_graphs: bool = True
    """Whether it can hold texts of graphs, which can be compiled again."""


TORCH_TRACE: Final = "TORCH_TRACE log"
DEBUG_FOLDER: Final = "TORCH_COMPILE_DEBUG folder"
DEBUG_FOLDER_WITH_LOG: Final = "TORCH_COMPILE_DEBUG folder with a debug.log"
"""Written where `torch._inductor.config.trace.debug_log` is set."""
TRITON_CACHE: Final = "cache of Triton"
RUNNABLE: Final = "file that runs a graph again"
MINIFIER: Final = "folder of torch's minifier"
TRITONPARSE: Final = "log of tritonparse"
INDUCTOR_CACHE: Final = "cache of Inductor"
AOTI_PACKAGE: Final = "package of AOTInductor"
EXPORTED_PROGRAM: Final = "program of torch.export"
PACKAGE: Final = "package of AOTInductor with a program of torch.export"
VLLM_CACHE: Final = "cache of vLLM"
ARCHIVE: Final = "archive"
FOLDER: Final = "folder"
"""Where several are in one, each of which is a part of the dump."""

_ALWAYS: Final = (
    "overview", "findings", "remarks", "summary", "origin", "graphs", "replays", "nodes", "kernels", "wrapper", "ranks",
    "node", "kernel",
)  # fmt: skip

_OF_CODE: Final = (
    "overview", "remarks", "summary", "origin", "graphs", "kernels", "binaries", "kernel", "ranks",
)  # fmt: skip

_OF_PROGRAMS: Final = (
    "overview", "remarks", "summary", "origin", "graphs", "nodes", "node", "symbols", "draw fx",
)  # fmt: skip

_NOT_COMPILED: Final = "kernels, lowering, fusion decisions, schedule, memory or times"

_OF_TRACES: Final = (
    "compiles", "dynamo", "caches", "guards", "symbols", "artifacts", "settings", "time", "metrics",
    "draw fx", "draw dynamo", "draw startup", "draw ranks",
)  # fmt: skip

ORIGINS: Final = {
    TORCH_TRACE: Origin(
        frozenset((*_ALWAYS, *_OF_TRACES)),
        frozenset((FAILED, BREAK, RECOMPILE, RECOMPILE_LIMIT, CACHE, CACHE_MISS)),
        "lowering, fusion decisions, schedule, memory plan, binaries or costs",
    ),
    DEBUG_FOLDER: Origin(
        frozenset((*_ALWAYS, "schedule", "draw fx", "draw schedule")),
        frozenset(),
        "frames, guards, passes, lowering, fusion decisions, binaries, times or costs",
    ),
    DEBUG_FOLDER_WITH_LOG: Origin(
        frozenset((*_ALWAYS, "schedule", "fusion", "draw fx", "draw schedule")),
        frozenset(),
        "frames, guards, passes, lowering, binaries, times or costs",
    ),
    TRITON_CACHE: Origin(
        frozenset(_OF_CODE),
        frozenset(),
        "graphs, launches, block sizes, memory or times",
        has_graphs=False,
    ),
    RUNNABLE: Origin(frozenset((*_OF_PROGRAMS, "replays", "ranks")), frozenset(), _NOT_COMPILED),
    MINIFIER: Origin(frozenset((*_OF_PROGRAMS, "replays", "ranks", "artifacts")), frozenset(), _NOT_COMPILED),
    TRITONPARSE: Origin(
        frozenset((*_OF_CODE, "artifacts")),
        frozenset(),
        "graphs, wrapper, machine code, registers, spills, memory or times",
        has_graphs=False,
    ),
    INDUCTOR_CACHE: Origin(
        frozenset((*_OF_CODE, "wrapper", "artifacts")),
        frozenset(),
        "frames, guards, FX graphs, lowering, fusion decisions, schedule or times",
        has_graphs=False,
    ),
    AOTI_PACKAGE: Origin(
        frozenset((*_OF_CODE, "wrapper", "artifacts")),
        frozenset(),
        "frames, guards, FX graphs, lowering, fusion decisions, schedule or times",
        has_graphs=False,
    ),
    VLLM_CACHE: Origin(
        frozenset((*_OF_PROGRAMS, "ranks", "artifacts")),
        frozenset(),
        "kernels, lowering, fusion decisions, schedule, memory or times; the caches of Inductor and Triton in it have "
        "the kernels",
        has_graphs=False,
    ),
    EXPORTED_PROGRAM: Origin(
        frozenset((*_OF_PROGRAMS, "ranks", "artifacts")),
        frozenset(),
        f"{_NOT_COMPILED}: nothing was compiled yet",
        has_graphs=False,
    ),
    PACKAGE: Origin(
        frozenset((*_OF_CODE, *_OF_PROGRAMS, "wrapper", "artifacts")),
        frozenset(),
        "frames, guards, lowering, fusion decisions, schedule or times",
        has_graphs=False,
    ),
}
"""Name of the origin, as run.json has it → what it holds."""

RECOMPILE_WORDS: Final = "compile its graphs again to see that: inspect-compile import PATH -o DUMP --recompile"


def note(origin: str) -> str:
    """What a reader of such a dump should know."""
    held = ORIGINS[origin]
    return f"read from a {origin}, which holds no {held.lacks}{f'; {RECOMPILE_WORDS}' if held.has_graphs else ''}"


def unknown_text(origin: str, table: str) -> str:
    """Why a table of a dump with that origin is not known; empty where it is."""
    held = ORIGINS.get(origin)
    if held is None or table in held.tables:
        return ""
    return f"{table}: not known, since a {origin} does not hold it{f'; {RECOMPILE_WORDS}' if held.has_graphs else ''}"
