"""A TORCH_TRACE log as the facts and files of a dump."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

from inspect_compile.facts import Artifact, Fact, Graph, Metrics, OriginRecords
from inspect_compile.facts.compile_id import compile_name
from inspect_compile.origins.counted_files import MOST_TEXT, kept_text
from inspect_compile.origins.torch_trace.frames import Frames
from inspect_compile.origins.torch_trace.graphs import File, TracedGraphs, tracked
from inspect_compile.origins.torch_trace.records import Record, Unread, records
from inspect_compile.origins.torch_trace.times import Lookups, Times

_BECAME: Final = {
    "dynamo_start": "dynamo", "dynamo_output_graph": "dynamo", "compilation_metrics": "dynamo, metrics, settings",
    "bwd_compilation_metrics": "metrics", "compilation_metrics_runtime": "metrics",
    "artifact recompile_reasons": "dynamo", "artifact dynamo_graph_break_reason": "dynamo, artifacts",
    "dynamo_guards": "guards", "dynamo_cpp_guards_str": "guards, artifacts",
    "guard_added": "dynamo", "guard_added_fast": "dynamo", "symbolic_shape_specialization": "dynamo",
    "aot_joint_graph": "nodes", "aot_forward_graph": "nodes", "aot_backward_graph": "nodes",
    "aot_inference_graph": "nodes",
    "artifact before_post_grad_graph": "graphs", "artifact before_recompile_post_grad": "graphs",
    "artifact after_post_grad_graph": "nodes",
    "inductor_post_grad_graph": "nodes", "artifact inductor_post_grad_graph": "nodes",
    "artifact fx_graph_runnable": "graphs", "inductor_output_code": "kernels, wrapper",
    "graph_dump inductor_aot_wrapper_code": "kernels, wrapper", "graph_dump inductor_aot_kernel_code": "kernels",
    "chromium_event": "time",
    "artifact inductor_provenance_tracking_node_mappings": "graphs",
    "create_symbol": "symbols", "create_unbacked_symbol": "symbols",
    "artifact torch_version": "run.json", "str": "names of files",
}  # fmt: skip
"""What each kind of record becomes."""
_CACHE: Final = re.compile(r"artifact (?:fx_graph|aotautograd)_cache_(?:hit|miss|bypass)")
_IN_FILES: Final = frozenset(
    {"chromium_event", "inductor_output_code", "dynamo_output_graph", "dynamo_guards", "aot_joint_graph",
     "aot_forward_graph", "aot_backward_graph", "aot_inference_graph", "inductor_post_grad_graph", "torch_version",
     "fx_graph_runnable", "before_post_grad_graph", "before_recompile_post_grad", "after_post_grad_graph",
     "inductor_aot_wrapper_code", "inductor_aot_kernel_code", "inductor_provenance_tracking_node_mappings",
     "recompile_reasons"}
)  # fmt: skip
"""Records whose text is a file of the dump, or all of it in rows; other texts are artifacts."""


@dataclass
class Trace:
    """Reads one log. After `facts` is exhausted it knows what the log says of its process."""

    versions: dict[str, str] = field(default_factory=dict)
    rank: int | None = None
    began: float | None = None
    """When its first timer began, in seconds since the epoch."""
    device: str = ""
    unread: Unread = field(default_factory=Unread)
    count: int = 0
    """How many records there were."""

    def facts(self, lines: Iterable[bytes]) -> Iterator[Fact | File]:
        """The facts and files of the log's lines."""
        names: dict[int, str] = {}
        frames, graphs = Frames(names, self.unread), TracedGraphs()
        times, lookups = Times(self.unread), Lookups(self.unread)
        numbering = _Numbering()
        counted: dict[str, list[int]] = {}
        values = _Values()
        for record in records(lines, self.unread, names):
            self.count += 1
            sums = counted.setdefault(record.what, [0, 0])
            sums[0] += 1
            sums[1] += len(record.payload)
            if record.rank is not None:
                self.rank = record.rank
            compile_id = numbering.name(record)
            name = record.name or record.kind
            if name == "chromium_event":
                for timed in times.facts(record, numbering.count):
                    self.began = timed.start if self.began is None else min(self.began, timed.start)
                    yield timed
                continue
            if name == "torch_version":
                self.versions.update(tracked(record, self.unread))
            yield from map(self._seen, frames.facts(record, compile_id))
            yield from lookups.facts(record, compile_id)
            yield from map(self._seen, graphs.facts(record, compile_id))
            if record.payload and name not in _IN_FILES and record.kind != "str":
                yield kept_text(name, record.text, compile_id)
            elif not record.payload and record.what not in _BECAME:
                values.add(record, compile_id)
        yield from values.artifacts()
        yield from frames.rest()
        yield from map(self._seen, graphs.rest())
        for what, (count, size) in sorted(counted.items()):
            yield OriginRecords(what=what, count=count, bytes=size, became=_became(what))
        for what, count in sorted(self.unread.lines.items()):
            yield OriginRecords(what=f"unread: {what}", count=count, became="not read")

    def _seen(self, fact: Fact | File) -> Fact | File:
        """The same, once what it tells of the process is kept."""
        if isinstance(fact, Graph) and not self.device:
            self.device = fact.device
        elif isinstance(fact, Metrics) and isinstance(version := fact.values.get("pytorch_version"), str):
            self.versions.setdefault("torch", version)
        return fact


@dataclass
class _Numbering:
    """Names of compiles: torch counts from 0 again after `torch._dynamo.reset()`."""

    count: int = 1
    started: set[tuple[str, int]] = field(default_factory=set)

    def name(self, record: Record) -> str:
        """What the dump calls the record's compile; empty if it is of none."""
        if not record.compile_id:
            return ""
        if record.kind == "dynamo_start":
            attempt = record.compile_id, record.attempt
            if attempt in self.started:
                self.count += 1
                self.started.clear()
            self.started.add(attempt)
        return compile_name(record.compile_id, self.count)


@dataclass
class _Values:
    """Records that are all in their line, and of which nothing else is made: those of a kind and compile are a text."""

    lines: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Compile and kind → the JSON of each."""
    sizes: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, record: Record, compile_id: str) -> None:
        """One more."""
        key, line = (compile_id, record.what), msgspec.json.encode(record.value).decode()
        size = self.sizes[key] = self.sizes.get(key, 0) + len(line)
        if size <= MOST_TEXT:
            self.lines.setdefault(key, []).append(line)

    def artifacts(self) -> Iterator[Artifact]:
        """The texts."""
        for (compile_id, what), size in self.sizes.items():
            lines = self.lines.get((compile_id, what), [])
            yield Artifact(graph=compile_id, name=what, text="\n".join(lines), cut=size - sum(map(len, lines)))


def _became(what: str) -> str:
    if _CACHE.fullmatch(what):
        return "caches, artifacts"
    return _BECAME.get(what, "artifacts")
