"""Bytes of each scheduler node against Inductor's own count, `get_read_write_buffer_accesses`, and its sum.

The sum is `torch._inductor.metrics.num_bytes_accessed`: it is ours, and what the cases below make of it.

Every buffer is equal, but for four cases, each of which is told apart here by what it is:

- a part: an extern kernel is given a view, and torch counts all of the buffer below it;
- a tuple: torch counts the results of an extern kernel at the tuple, and we at the buffers that they become;
- inside: a buffer that only its own fused node reads. torch leaves all of them out; we count the write of one that the
  wrapper allocates, for the kernel does write it;
- apart: a fused node that does not allocate what it hands to another node of the same kernel.

In the sum there is a fifth, both: a buffer that one node both writes and reads counts once, or, if no other node reads
it, not at all.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Kernel, Operation, WrapperLine
from inspect_compile.graph import CompiledGraph
from tests.conftest import SAMPLES

PROGRAMS = Path(__file__).parent / "programs"


@dataclass
class Compared:
    """The bytes of all nodes of a run beside torch's."""

    equal: int = 0
    """Buffers."""
    known: Counter[str] = field(default_factory=Counter)
    """Differences by what they are."""
    unknown: list[str] = field(default_factory=list)
    """Those that are nothing of that."""
    ours: int = 0
    """The sum of all nodes of graphs that are in no other one."""
    more: Counter[str] = field(default_factory=Counter)
    """What torch has more than that in its sum, by what the difference is."""


def _compared(dump: Dump, told: list[dict[str, object]]) -> Compared:
    found = Compared()
    for graph in dump.graphs():
        counted = CompiledGraph(dump, graph.graph).traffic
        allocated = {row.buffer for row in dump.rows(WrapperLine, graph.graph) if row.what == "allocate"}
        kernel_of = {group: kernel.name for kernel in dump.rows(Kernel, graph.graph) for group in kernel.groups}
        groups = {
            row.name: row
            for row in dump.rows(Operation, graph.graph)
            if row.phase == "post_fusion" and row.graph == graph.graph
        }
        readers: dict[str, set[str]] = {}
        for row in groups.values():
            for access in row.reads:
                readers.setdefault(access.buffer, set()).add(row.name)
        parts = {row.name: row for row in groups.values() if row.ir_type == "MultiOutput"}
        tuples = {access.buffer for row in parts.values() for access in row.reads}
        for line in told:
            name = str(line["node"])
            if line["graph"] != graph.graph.rpartition(".")[0] or name not in groups or name in parts:
                continue
            is_outer = not line["nested"]
            ours = {
                one.buffer: (one.read, one.written) for one in counted.groups.sums([groups[name]], "cpp", "").rows()
            }
            reads, writes = line["reads"], line["writes"]
            assert isinstance(reads, dict)
            assert isinstance(writes, dict)
            both = reads.keys() & {access.buffer for access in groups[name].writes}
            less = sum(reads.values()) + sum(writes.values()) - int(str(line["bytes"]))
            assert 0 <= less <= sum(reads[buffer] for buffer in both)
            found.more["both"] -= less * is_outer
            for buffer in {*ours, *reads, *writes}:
                own, other = ours.get(buffer, (0, 0)), (reads.get(buffer, 0), writes.get(buffer, 0))
                users = readers.get(buffer, set()) - {name}
                found.ours += sum(own) if is_outer else 0
                if own == other:
                    found.equal += 1
                    continue
                if buffer in tuples or any(buffer in part.buffers for part in parts.values()):
                    case = "tuple"
                elif groups[name].kind == "extern" and 0 < own[0] < other[0] and own[1] == other[1]:
                    case = "part"
                elif buffer in allocated and not users and own[1] and not any(other):
                    case = "inside"
                elif buffer not in allocated and {kernel_of.get(user) for user in users} <= {kernel_of[name]}:
                    case = "apart"
                else:
                    found.unknown.append(f"{graph.graph} {name} {buffer}: ours {own}, torch's {other}")
                    continue
                found.known[case] += 1
                found.more[case] += (sum(other) - sum(own)) * is_outer
    return found


def _run(script: Path, tmp_path: Path, cache: Path) -> tuple[Compared, int]:
    """The nodes beside each other, and torch's sum."""
    out = tmp_path / "told.jsonl"
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(tmp_path / "dump")]
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)}
    words = [*command, str(PROGRAMS / "buffer_sizes.py"), str(out), str(script)]
    subprocess.run(words, env=environment, capture_output=True, check=True, timeout=300)
    *nodes, last = (json.loads(line) for line in out.read_text().splitlines())
    return _compared(open_dump(tmp_path / "dump"), nodes), last["sum"]


def test_bytes_are_inductors_own(tmp_path: Path, inductor_cache: Path) -> None:
    found, total = _run(PROGRAMS / "moving.py", tmp_path, inductor_cache)

    assert not found.unknown
    assert found.known == {"inside": 1, "part": 1, "tuple": 3}
    assert found.equal > 20
    assert found.ours + sum(found.more.values()) == total > 0


@pytest.mark.harmless
@pytest.mark.parametrize(
    "sample",
    ["attention_block", "conditional", "conv_bias", "dynamic_shapes", "softmax_mlp", "training_step", "two_models"],
)
def test_bytes_of_the_samples_are_inductors_own(sample: str, tmp_path: Path, inductor_cache: Path) -> None:
    found, total = _run(SAMPLES / f"{sample}.py", tmp_path, inductor_cache)

    assert not found.unknown
    assert found.equal
    assert found.ours + sum(found.more.values()) == total > 0
