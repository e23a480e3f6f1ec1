"""Values of a check that wait in a file."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from inspect_compile.analysis.numerics.verdicts import judged
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.lowering.intervention.numerics.graphs.offload import Offload
from inspect_compile.lowering.intervention.numerics.graphs.reference import reference
from inspect_compile.lowering.intervention.numerics.graphs.shared import Shared
from tests.running import COMMAND, run

PROGRAMS = Path(__file__).parent / "programs"
LARGE = torch.arange(40_000.0)


def test_what_is_read_is_what_was_put_there() -> None:
    matrix = LARGE.clone().view(200, 200)
    halves = matrix.bfloat16()
    value = [matrix, matrix.t()[3:], (halves, torch.ones(3), 7, None), LARGE.int()[::2], torch.nn.Parameter(matrix)]

    with Offload() as store:
        kept = store.put(value, is_fixed=True)
        halves.zero_()
        matrix.zero_()
        read = store.get(kept)

    assert torch.equal(read[0], LARGE.view(200, 200))
    assert torch.equal(read[1], LARGE.view(200, 200).t()[3:])
    assert read[1].stride() == matrix.t().stride()
    assert torch.equal(read[2][0], LARGE.view(200, 200).bfloat16())
    assert read[2][1:] == (value[2][1], 7, None)  # type: ignore[index]
    assert torch.equal(read[3], LARGE.int()[::2])
    assert read[0].untyped_storage().data_ptr() == read[1].untyped_storage().data_ptr()
    assert read[0].untyped_storage().data_ptr() != matrix.untyped_storage().data_ptr()


def test_memory_that_was_freed_is_not_taken_for_what_is_there_now() -> None:
    with Offload() as store:
        kept = []
        for number in range(20):  # the allocator hands out one piece of memory again and again
            kept.append(store.put(torch.full((40_000,), float(number)), is_fixed=True))

        assert [int(store.get(one)[-1]) for one in kept] == list(range(20))


def test_without_room_a_value_stays_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Any) -> int:
        raise OSError(28, "No space left on device")

    with Offload() as store:
        with monkeypatch.context() as patch:
            patch.setattr(store, "_written", full)
            kept = store.put(LARGE)

        assert kept is LARGE
        assert store.get(kept) is LARGE


def test_a_graph_that_changes_its_inputs_has_the_same_values() -> None:
    def changing(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        first = x * 2
        seen = x.view(200, 200)
        x.add_(y)
        return first + x, seen.sum(), first

    module = make_fx(changing)(LARGE.clone(), LARGE)
    plain = reference(module, [LARGE.clone(), LARGE])

    with Offload() as store:
        found = reference(module, [LARGE.clone(), LARGE], shared=Shared(store))
        assert list(found.values) == list(plain.values)
        for name, value in plain.values.items():
            assert name == "output" or torch.equal(value, found.values[name]), name
        assert [torch.equal(one, other) for one, other in zip(found.results, plain.results, strict=True)] == [True] * 3
        assert list(found.after) == list(plain.after)
        assert all(torch.equal(found.after[pair], plain.after[pair]) for pair in plain.after)


@pytest.mark.parametrize(("fault", "status"), [("nothing", 0), ("wrong_constant", 1)])
def test_a_check_finds_the_same(fault: str, status: int, tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    rows = {}
    for name, *options in (("memory",), ("file", "--offload")):
        words: list[str | Path] = ["numerics", *options, "--dump", name, PROGRAMS / "bad_pass.py", fault, "train"]
        done = run([*COMMAND, *words], tmp_path, environment=environment)
        assert done.returncode == status, done.stderr
        rows[name] = [(row.kernel, row.buffer, row.level, row.verdict) for row in judged(Graphs(Dump(tmp_path / name)))]

    assert rows["file"] == rows["memory"]
    assert rows["file"]


def test_it_is_for_comparisons_only(tmp_path: Path) -> None:
    done = run([*COMMAND, "numerics", "--offload", "--nonfinite", "nothing.py"], tmp_path)

    assert done.returncode == 2
    assert "keeps no values that could be offloaded" in done.stderr
