"""Bytes of each scheduler node against Inductor's own count, `get_read_write_buffer_accesses`.

Every buffer is equal, but for four cases, each of which is told apart here by what it is:

- a part: an extern kernel is given a view, and torch counts all of the buffer below it;
- a tuple: torch counts the results of an extern kernel at the tuple, and we at the buffers that they become;
- inside: a buffer that only its own fused node reads. torch leaves all of them out; we count the write of one that the
  wrapper allocates, for the kernel does write it;
- apart: a fused node that does not allocate what it hands to another node of the same kernel.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from inspect_compile.analysis.kernel_traffic import LaunchTraffic
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Kernel, Operation, WrapperLine
from tests.conftest import SAMPLES

PROGRAMS = Path(__file__).parent / "programs"


def _differences(dump: Dump, told: list[dict[str, object]]) -> tuple[int, Counter[str], list[str]]:
    """How many buffers are equal; the differences by what they are; those that are nothing of that."""
    equal, known, unknown = 0, Counter[str](), []
    for graph in dump.graphs():
        counted = LaunchTraffic(dump, graph.graph)
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
            ours = {
                one.buffer: (one.read, one.written) for one in counted.groups.sums([groups[name]], "cpp", "").rows()
            }
            reads, writes = line["reads"], line["writes"]
            assert isinstance(reads, dict)
            assert isinstance(writes, dict)
            for buffer in {*ours, *reads, *writes}:
                own, other = ours.get(buffer, (0, 0)), (reads.get(buffer, 0), writes.get(buffer, 0))
                users = readers.get(buffer, set()) - {name}
                if own == other:
                    equal += 1
                elif buffer in tuples or any(buffer in part.buffers for part in parts.values()):
                    known["tuple"] += 1
                elif groups[name].kind == "extern" and 0 < own[0] < other[0] and own[1] == other[1]:
                    known["part"] += 1
                elif buffer in allocated and not users and own[1] and not any(other):
                    known["inside"] += 1
                elif buffer not in allocated and {kernel_of.get(user) for user in users} <= {kernel_of[name]}:
                    known["apart"] += 1
                else:
                    unknown.append(f"{graph.graph} {name} {buffer}: ours {own}, torch's {other}")
    return equal, known, unknown


def _run(script: Path, tmp_path: Path, cache: Path) -> tuple[Dump, list[dict[str, object]]]:
    out = tmp_path / "told.jsonl"
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(tmp_path / "dump")]
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)}
    words = [*command, str(PROGRAMS / "buffer_sizes.py"), str(out), str(script)]
    subprocess.run(words, env=environment, capture_output=True, check=True, timeout=300)
    return open_dump(tmp_path / "dump"), [json.loads(line) for line in out.read_text().splitlines()]


def test_bytes_are_inductors_own(tmp_path: Path, inductor_cache: Path) -> None:
    equal, known, unknown = _differences(*_run(PROGRAMS / "moving.py", tmp_path, inductor_cache))

    assert not unknown
    assert known == {"inside": 1, "part": 1, "tuple": 3}
    assert equal > 20


@pytest.mark.harmless
@pytest.mark.parametrize(
    "sample",
    ["attention_block", "conditional", "conv_bias", "dynamic_shapes", "softmax_mlp", "training_step", "two_models"],
)
def test_bytes_of_the_samples_are_inductors_own(sample: str, tmp_path: Path, inductor_cache: Path) -> None:
    equal, _, unknown = _differences(*_run(SAMPLES / f"{sample}.py", tmp_path, inductor_cache))

    assert not unknown
    assert equal
