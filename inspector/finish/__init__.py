"""The derived files of a dump: made at the end of a run, or by the first reader if the run could not make them.

May not know torch or a screen; never runs while the program's process lives.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.analysis.findings.kept import to_keep
from inspect_compile.dump import Dump, paths, under_way
from inspect_compile.dump.files import whole
from inspect_compile.finish.kernels_text import kernels_text
from inspect_compile.finish.lowering_text import lowering_text
from inspect_compile.finish.program_files import kernel_map_json, node_mappings_json, post_fusion_dot, pre_fusion_dot
from inspect_compile.finish.table_texts import flops_text, fusion_text, memory_text
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.tables.text import unbroken

ARTIFACTS: Final[dict[str, Callable[[CompiledGraph], str]]] = {
    paths.LOWERING: lowering_text,
    paths.FUSION: fusion_text,
    paths.KERNELS_TEXT: kernels_text,
    paths.FLOPS: flops_text,
    paths.MEMORY: memory_text,
    paths.KERNEL_MAP: kernel_map_json,
    paths.PROVENANCE: node_mappings_json,
    f"{paths.SCHEDULE_PRE_FUSION}.dot": pre_fusion_dot,
    f"{paths.SCHEDULE_POST_FUSION}.dot": post_fusion_dot,
}
"""File in each graph's folder → its text for a graph."""

_MOST_GRAPHS: Final = 1000

_PATIENCE: Final = 60.0
"""Seconds to wait for another process that is making them."""


def finish(dump: Dump, *, is_own: bool = False) -> None:
    """Write the derived files of every graph, then the marker.

    With `is_own` machine code is disassembled too: the vendors' tools for that are not made for untrusted files.

    Each file appears completely or not at all. If one cannot be made, the reason is written in its place and into the
    marker, and the others are still made. Raises OSError if the dump is not writable.
    """
    failures: list[str] = []
    for graph in Graphs(dump):
        folder = dump.folder(graph.name)
        if not paths.inside(dump.root, folder):
            failures.append(unbroken(f"{graph.name}: its folder is a link out of the dump"))
            continue
        folder.parent.mkdir(exist_ok=True)  # the dump itself is there, or was removed meanwhile
        folder.mkdir(exist_ok=True)
        for name, text_of in ARTIFACTS.items():
            try:
                text = text_of(graph)
            except Exception as error:
                reason = unbroken(f"{type(error).__name__}: {error}")
                failures.append(unbroken(f"{graph.name}/{name}: {reason}"))
                comment = "//" if name.endswith((".dot", ".json")) else name
                text = f"{comment} could not be made: {reason}\n"
            _write(folder / name, text)
    failures += _keep_overview(dump)
    if is_own:
        from inspect_compile.finish.disassembly import disassemble

        failures += disassemble(dump, _write)
    if dump.left_out:
        failures.append(dump.left_out)
    _write(dump.root / paths.FINISHED, "".join(f"{failure}\n" for failure in failures))


def _keep_overview(dump: Dump) -> Iterator[str]:
    """Write what the overview tells; yields why that could not be made."""
    try:
        data = to_keep(dump)
    except Exception as error:
        yield unbroken(f"{paths.OVERVIEW}: {type(error).__name__}: {error}")
        return
    if data is not None:
        _write_bytes(dump.root / paths.OVERVIEW, data)


def is_finished(dump: Dump) -> bool:
    """True if the derived files exist."""
    return (dump.root / paths.FINISHED).exists()


def ensure_finished(dump: Dump) -> bool:
    """Make the derived files if the run could not, because it was killed. Returns True if they exist afterwards.

    A dump that is still growing is left alone, and so is one that is not writable, or that has so many graphs that a
    reader would wait for long.
    """
    if is_finished(dump):
        return True
    under_way.wait(dump.root, _PATIENCE)
    if is_finished(dump):
        return True
    if run_state(dump).is_growing or not os.access(dump.root, os.W_OK) or len(dump.outermost()) > _MOST_GRAPHS:
        return False
    with contextlib.suppress(OSError):
        finish(dump)
    return is_finished(dump)


def _write(path: Path, text: str) -> None:
    _write_bytes(path, text.encode("utf-8", "backslashreplace"))


def _write_bytes(path: Path, data: bytes) -> None:
    with whole(path) as beside, open(beside, "xb") as file:
        file.write(data)
