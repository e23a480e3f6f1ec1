"""Has a recorded graph compiled again, by a process of its own, into a part of the dump.

That process runs code from the dump, fx_graph_runnable.py: nothing else does.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from inspect_compile.child.setting import PYTHON_PATH, VARIABLE, Setting, python_path_without_door
from inspect_compile.dump import Dump, paths
from inspect_compile.errors import CommandError
from inspect_compile.facts import DynamoNode, Graph, Lowering, Node

_WORKER: Final = "inspect_compile.child.replay_worker"
_OF_RECORDING: Final = re.compile(r"TORCHINDUCTOR_|TORCHDYNAMO_|TRITON_|TORCH_(?:LOGS|TRACE|COMPILE_DEBUG)")
_STAYS: Final = re.compile(r"_(?:DIR|PATH|HOME)$")
"""Variables of this shell that say where things are here; those that change a compile are the recorded ones."""
_ARCHITECTURE: Final = re.compile(r"\b(?:sm_\d+|gfx\w+)\b")


_ITEMS: Final = re.compile(r"%\w+|\bNone\b")
"""The outputs in the text of an output node's arguments."""


_OF_MODULE: Final = re.compile(r"_(?:parameters|buffers)_")
"""In Dynamo's name of an input: it belongs to an nn.Module, which keeps it where it is."""
_UNBACKED: Final = re.compile(r"\bu(\d+)\b")
_CHECKED: Final = re.compile(r"\bcopy_if_misaligned\((\w+)\)")


@dataclass(frozen=True)
class Replayed:
    """A graph that was compiled again."""

    number: int
    part: Path
    """Its part of the dump."""
    graph: str
    failure: str = ""
    """What went wrong, in one line; empty for a compile that came to its end."""


def replayed(
    dump: Dump, graph: Graph, *, target: str | None = None, config: Mapping[str, Any] | None = None
) -> Replayed:
    """Compile `graph` of `dump` again: for `target`, else for the device that it was recorded on; with `config`.

    Waits for it. Really compiled: not from torch's caches of graphs, and nothing is put there. CommandError for what
    can't be done; then nothing is left. What was recorded of a compile that fails stays.
    """
    of = dump
    while of.root.name.startswith(paths.REPLAY):  # a replay of a replay stands beside it
        of = Dump(of.root.parent)
    literals = {name: repr(value) for name, value in (config or {}).items()}
    told = {**_told(dump, graph), "target": target or dump.run.target, "config": literals}
    number, part = _claimed(of.root)
    setting = Setting(
        root=str(part),
        pid=0,
        python_path=python_path_without_door(os.environ),
        plain=True,
        quiet=True,
        argv=list(of.run.argv),
        target=told["target"] or None,
        replay_of=graph.graph,
        config=literals,
    )
    answer, status = _compiled(told, setting, part)
    if refused := answer.get("refused"):
        shutil.rmtree(part, ignore_errors=True)
        raise CommandError(f"{graph.graph}: {refused}")
    failure = answer.get("failed", "")
    if status and not failure:
        failure = f"what compiled it ended with exit status {status}"
    return Replayed(number, part, graph.graph, failure)


def _compiled(told: Mapping[str, Any], setting: Setting, part: Path) -> tuple[dict[str, str], int]:
    with open(part / paths.WORKER_LOG, "wb") as log:
        worker = subprocess.Popen(
            [sys.executable, "-P", "-m", _WORKER],
            env=setting.environment(_environment(setting)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            answer, _ = worker.communicate(json.dumps(told))
        except BaseException:  # Ctrl-C: it has heard it too
            worker.terminate()
            worker.wait()
            raise
    try:
        return json.loads(answer), worker.returncode
    except ValueError:
        return {}, worker.returncode or 1


def _environment(setting: Setting) -> dict[str, str]:
    ours = (PYTHON_PATH, VARIABLE)
    base = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and (not _OF_RECORDING.match(name) or _STAYS.search(name))
    }
    if setting.target:  # a GPU that is here is not the one that is meant
        base |= {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    return base


def _claimed(root: Path) -> tuple[int, Path]:
    number = 1
    while True:
        part = root / paths.replay_folder(number)
        try:
            part.mkdir()
        except FileExistsError:
            number += 1
            continue
        except OSError as error:
            raise CommandError(
                f"{root}: can't be written ({error.strerror or error}), and a replay is put into the dump; copy it"
            ) from None
        return number, part


def _told(dump: Dump, graph: Graph) -> dict[str, Any]:
    """What the one who compiles it is told of the graph: texts of the dump, and what they leave out."""
    name = graph.graph
    if "/" in name:
        raise CommandError(f"--graph {name}: it is compiled with the graph around it: --graph {name.partition('/')[0]}")
    text = dump.text(name, paths.FX_RUNNABLE)
    if text is None:
        raise CommandError(
            f"{name}: no {paths.FX_RUNNABLE} in {dump.folder(name)}, so that it can't be compiled again;"
            " the recording ended too early, or left the graph out"
        )
    nodes = [node for node in dump.rows(Node, name) if node.graph == name and node.stage == "aot"]
    known = {
        "graph": name,
        "kind": graph.kind,
        "compile_id": graph.compile_id or "",
        "visible": _visible(dump, graph, nodes),
        "unbacked": sorted({int(number) for node in nodes for number in _UNBACKED.findall(_sizes(node))}),
        "static": _static(dump, graph, nodes),
        "donated": [
            row.node for row in dump.rows(Lowering, name) if row.way == "placeholder" and "DonatedBuffer(" in row.result
        ],
        "originals": {node.name: node.original_aten for node in nodes if node.original_aten},
        "origins": {node.name: node.origins for node in nodes if node.origins},
        "stacks": {node.name: _stack(node) for node in nodes if node.where is not None},
        "modules": {node.name: (node.module, node.module_type) for node in nodes if node.module},
        "backward": [node.name for node in nodes if node.is_backward],
    }
    there = _ARCHITECTURE.search(dump.run.device)
    return {
        "runnable": text,
        "readable": dump.text(name, paths.FX_READABLE) or "",
        "device": graph.device or dump.run.device,
        "recorded_target": there[0] if there is not None else "",
        "torch": dump.run.versions.get("torch", ""),
        "known": known,
    }


def _visible(dump: Dump, graph: Graph, nodes: list[Node]) -> list[int]:
    """Outputs of a forward graph that the program gets.

    Inputs that it changes come before them, and what it keeps for the backward behind.
    """
    output = next((node for node in nodes if node.op == "output"), None)
    of_dynamo = [row for row in dump.rows_of_compile(DynamoNode, graph.compile_id) if row.op == "output"]
    if graph.kind != "forward" or output is None or not of_dynamo:
        return []
    count = len(_ITEMS.findall(output.arguments))
    wanted = len(_ITEMS.findall(of_dynamo[-1].arguments))
    names = {node.name for node in nodes}
    start = 0
    for other in dump.graphs():
        if other.kind == "backward" and other.compile_id == graph.compile_id:
            rows = [row for row in dump.rows(Node, other.graph) if row.graph == other.graph and row.stage == "aot"]
            kept = sum(row.op == "placeholder" and row.name in names for row in rows)
            start = max(0, count - wanted - kept)
    return list(range(start, min(start + wanted, count)))


def _static(dump: Dump, graph: Graph, nodes: list[Node]) -> list[str]:
    """Inputs that a GPU takes as they are; of others the generated code makes sure that they are aligned."""
    inputs = [node.name for node in nodes if node.op == "placeholder"]
    if "cuda" in graph.device:
        code = dump.text(graph.graph, f"{paths.OUTPUT_CODE}.py") or ""
        checked = set(_CHECKED.findall(code))
        return [name for name in inputs if name not in checked]
    if graph.kind == "backward":
        return [name for name in inputs if not name.startswith("tangents")]
    rows = dump.rows_of_compile(DynamoNode, graph.compile_id)
    of_dynamo = [row.name for row in rows if row.op == "placeholder"]
    if len(of_dynamo) != len(inputs):
        return []
    return [name for name, earlier in zip(inputs, of_dynamo, strict=True) if _OF_MODULE.search(earlier)]


def _sizes(node: Node) -> str:
    return " ".join(str(size) for value in node.values for size in value.size)


def _stack(node: Node) -> str:
    where = node.where
    assert where is not None
    return f'  File "{where.file}", line {where.line}, in {where.function}\n    {where.code}\n'
