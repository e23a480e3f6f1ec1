"""Has a recorded graph compiled again, by a separate process, into a part of the dump.

That process runs code from the dump, fx_graph_runnable.py; nothing else does.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from inspect_compile.analysis.compare.what_if import Tried, tried
from inspect_compile.analysis.lookup.pairs import Pair
from inspect_compile.child.setting import PYTHON_PATH, VARIABLE, Setting, python_path_without_bootstrap
from inspect_compile.dump import Dump, paths
from inspect_compile.errors import CommandError
from inspect_compile.facts import Operation
from inspect_compile.facts.nesting import outermost
from inspect_compile.graph import CompiledGraph
from inspect_compile.launch.replay_metadata import known

_WORKER: Final = "inspect_compile.child.workers.replay_worker"
_OF_RECORDING: Final = re.compile(r"TORCHINDUCTOR_|TORCHDYNAMO_|TRITON_|TORCH_(?:LOGS|TRACE|COMPILE_DEBUG)")
_STAYS: Final = re.compile(r"_(?:DIR|PATH|HOME)$")
"""Variables of this shell that name places on this machine; those that affect a compile are taken from the
recording.
"""
_ARCHITECTURE: Final = re.compile(r"\b(?:sm_\d+|gfx\w+)\b")


class Denied(NamedTuple):
    """Two sets of operations that must stay apart."""

    graph: str
    """Their graph: the one that is compiled again, or one nested in it."""
    a: tuple[str, ...]
    b: tuple[str, ...]


@dataclass(frozen=True)
class Replayed:
    """A graph that was compiled again."""

    number: int
    part: Path
    """Its part of the dump."""
    graph: str
    failure: str = ""
    """What went wrong, on one line; empty if the compile finished."""


def replayed(
    graph: CompiledGraph,
    *,
    target: str | None = None,
    config: Mapping[str, Any] | None = None,
    denied: Sequence[Denied] = (),
    inputs: Path | None = None,
) -> Replayed:
    """Compile `graph` of `dump` again: for `target`, else for the recorded device; with the settings `config`.

    For each pair in `denied` no operation of one side gets into a scheduler node with one of the other. With `inputs`,
    the file that a check of numerics kept of a call, it is then called with them, and that call is checked.

    Waits for it. It is really compiled: torch's caches of graphs are neither read nor written. Raises CommandError for
    what cannot be done, and then leaves nothing. What a failing compile recorded stays.
    """
    of = beside(graph.dump)
    literals = {name: repr(value) for name, value in (config or {}).items()}
    request = {**_description(graph), "target": target or graph.dump.run.target, "config": literals}
    request["inputs"] = str(inputs.absolute()) if inputs is not None else ""
    number, part = _claimed(of.root)
    setting = Setting(
        root=str(part.absolute()),  # what it runs may change directory
        pid=0,
        python_path=python_path_without_bootstrap(os.environ),
        plain=True,
        quiet=True,
        argv=list(of.run.argv),
        target=request["target"] or None,
        replay_of=graph.name,
        config=literals,
        steer={"deny": denied} if denied else None,
        numerics={} if inputs is not None else None,
    )
    answer, status = _compiled(request, setting, part)
    if refused := answer.get("refused"):
        shutil.rmtree(part, ignore_errors=True)
        raise CommandError(f"{graph.name}: {refused}")
    failure = answer.get("failed", "")
    if status and not failure:
        failure = f"what compiled it ended with exit status {status}"
    return Replayed(number, part, graph.name, failure)


def beside(dump: Dump) -> Dump:
    """The part that the replays of `dump` are stored in: a replay of a replay is stored beside it."""
    while dump.root.name.startswith(paths.REPLAY):
        dump = Dump(dump.root.parent)
    return dump


def try_knob(graph: CompiledGraph, ops_a: Sequence[str], ops_b: Sequence[str], knob: str, value: object) -> Tried:
    """Compile `graph` of `dump` again with the setting `knob`, and return what became of the two sets of operations.

    It runs code from the dump, like `replay`, and is kept as a replay. If it cannot be compiled, `failure` says why.
    """
    outer = outermost(graph.name)
    wanted = {*ops_a, *ops_b}
    of = next(
        (row.graph for row in graph.dump.rows(Operation, outer) if not wanted.isdisjoint(row.members)), graph.name
    )
    pair = Pair(of, tuple(ops_a), tuple(ops_b))
    found = graph.dump.graph(outer)
    failure = f"{graph.name}: no such graph in {graph.dump.root}"
    if found is not None:
        try:
            done = replayed(CompiledGraph(graph.dump, found.graph), config={knob: value})
        except CommandError as error:
            failure = str(error)
        else:
            if not done.failure:
                return tried(graph.dump, Dump(done.part), pair, knob, value, done.number)
            failure = done.failure
    return Tried(graph=of, knob=knob, value=repr(value), a=pair.a, b=pair.b, failure=failure)


def _compiled(request: Mapping[str, Any], setting: Setting, part: Path) -> tuple[dict[str, str], int]:
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
            answer, _ = worker.communicate(json.dumps(request))
        except BaseException:  # Ctrl-C: it was notified too
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
    if setting.target:  # a GPU that is present is not the one that is meant
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


def _description(graph: CompiledGraph) -> dict[str, Any]:
    """The description of the graph for the compiling process: texts of the dump, and what they do not say."""
    name = graph.name
    if "/" in name:
        raise CommandError(f"--graph {name}: it is compiled with the graph around it: --graph {name.partition('/')[0]}")
    text = graph.dump.text(name, paths.FX_RUNNABLE)
    if text is None and (origin := graph.dump.run.origin):
        raise CommandError(f"{name}: the {origin} has no {paths.FX_RUNNABLE} for it, so it can't be compiled again")
    if text is None:
        raise CommandError(
            f"{name}: no {paths.FX_RUNNABLE} in {graph.dump.folder(name)}, so it can't be compiled again;"
            " the recording ended too early, left the graph out, or kept no texts (--level facts)"
        )
    there = _ARCHITECTURE.search(graph.dump.run.device)
    return {
        "runnable": text,
        "readable": graph.dump.text(name, paths.FX_READABLE) or "",
        "device": graph.fact.device or graph.dump.run.device,
        "recorded_target": there[0] if there is not None else "",
        "is_of_strangers": bool(graph.dump.run.origin),
        "torch": graph.dump.run.versions.get("torch", ""),
        "known": known(graph),
    }
