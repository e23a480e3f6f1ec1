"""Attention that no fused kernel computes: why, and that what is advised makes it one, in torch's own choice and in a
program that is changed so.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.dump import Dump
from inspect_compile.facts import Node, Tensor
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.knowledge.kernels.attention import Call, refusals
from inspect_compile.lowering.intervention.cross_compile.attention import call as gpu
from inspect_compile.lowering.intervention.cross_compile.attention.choice import choose
from inspect_compile.lowering.intervention.cross_compile.attention.rules import of, version_of
from tests.running import inspected

PROGRAM = Path(__file__).resolve().parents[1] / "programs" / "attention.py"
LINES = {
    number: text.split("  # ")[1] for number, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "  # " in text
}
WHY = {
    "axes": "take 4 axes",
    "layout": "has stride 128",
    "dropout": "do not support dropout",
    "heads": "have 2 and 1 heads",
    "mask": "the mask has 3 axes",
    "sizes": "head sizes of 16 and 8",
    "by hand": "patterns of attention do not match",
    "by einsum": "patterns of attention do not match",
    "learnt": "the mask requires a gradient",
}
MENDED = WHY.keys() - {"learnt"}
if version_of(torch.__version__) >= (2, 14):  # three axes, and one head for all, are fused as they are
    del WHY["axes"], WHY["heads"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dump, Dump]:
    """As it is, and mended."""
    folder = tmp_path_factory.mktemp("attention")
    for name, arguments in (("plain", []), ("mended", ["mended"])):
        done = inspected([PROGRAM, *arguments], folder, options=["--dump", folder / name])
        assert done.returncode == 0, done.stderr
    return Dump(folder / "plain"), Dump(folder / "mended")


def told(dump: Dump) -> dict[str, Finding]:
    """The comment of a line → what is said of its attention."""
    rows = [row for row in findings(Graphs(dump)) if row.kind == "attention"]
    return {LINES[row.parts[0].where.line]: row for row in rows if row.parts[0].where is not None}


def moved(dump: Dump) -> int:
    """What the first graph moves."""
    return CompiledGraph(dump, dump.graphs_of_compile("0/0")[0].graph).traffic.moved


def test_each_reason_is_told_and_nothing_of_what_is_fused_or_cannot_be(recorded: tuple[Dump, Dump]) -> None:
    found = told(recorded[0])

    assert found.keys() == WHY.keys()
    assert all(words in found[name].why for name, words in WHY.items())


def test_all_that_is_advised_is_fused(recorded: tuple[Dump, Dump]) -> None:
    plain, mended = recorded
    assert not told(mended)
    fused = [row for row in mended.rows(Node) if row.stage == "post_grad" and "scaled_dot_product_flash" in row.target]
    assert len(fused) == len(MENDED) + len(("fused", "copied"))
    promised = sum(row.bytes or 0 for name, row in told(plain).items() if name != "learnt")
    assert moved(mended) < moved(plain) - promised // 2


def test_a_copy_without_which_no_fused_kernel_can_be_used_is_not_advised_against(
    recorded: tuple[Dump, Dump],
) -> None:
    for dump in recorded:
        copies = [row for row in findings(Graphs(dump)) if row.kind == "copy"]
        places = [part.where.line for row in copies for part in row.parts if part.where is not None]
        assert "copied" not in {LINES.get(place) for place in places}


def calls() -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None, float, bool]]:
    """Calls with all combinations of what the choice of a kernel depends on."""
    masks = {
        "none": None,
        "lengths": torch.zeros(8, 8),
        "three": torch.zeros(4, 8, 8),
        "four": torch.zeros(2, 1, 8, 8),
        "expanded": torch.zeros(8, 1).expand(8, 8),
        "learnt": torch.zeros(8, 8, requires_grad=True),
        "bool": torch.ones(8, 8, dtype=torch.bool),
    }
    kinds = (torch.float32, torch.float64, torch.bfloat16)
    rest = itertools.product(
        kinds, (4, 2, 1), (16, 20, 12), (16, 8), range(3), masks, (0.0, 0.1), (False, True), (3, 4)
    )
    for dtype, heads, size, values, turned, mask, dropout, groups, axes in rest:

        def tensor(
            heads: int, size: int, is_turned: bool, dtype: torch.dtype = dtype, axes: int = axes
        ) -> torch.Tensor:
            shape = (2, heads, size, 8) if is_turned else (2, heads, 8, size)
            made = torch.empty(shape[4 - axes :], dtype=dtype)
            return made.mT if is_turned else made

        given = masks[mask]
        if given is not None and given.dtype != torch.bool:
            given = given.to(dtype)
        query, key = tensor(4, size, turned == 1), tensor(heads, size, turned == 2)
        yield query, key, tensor(heads, values, False), given, dropout, groups


def plain(tensor: torch.Tensor) -> Tensor:
    return Tensor(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), tuple(tensor.stride()))


def asked(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    dropout: float,
    groups: bool,
    device: str,
    version: tuple[int, int],
) -> Call:
    is_learnt = mask is not None and mask.requires_grad
    tensors = plain(query), plain(key), plain(value), None if mask is None else plain(mask)
    return Call(*tensors, is_learnt, dropout > 0, groups, device, version)


class Called(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The names of the operators that are called."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(func.__name__)
        return func(*args, **(kwargs or {}))


def test_a_reason_is_known_exactly_where_torch_falls_back_on_a_cpu() -> None:
    compared = 0
    for query, key, value, mask, dropout, groups in calls():
        with Called() as called:
            try:
                scaled_dot_product_attention(query, key, value, mask, dropout, enable_gqa=groups)
            except RuntimeError:
                continue
        is_fused = "_scaled_dot_product_flash_attention_for_cpu.default" in called.names
        call = asked(query, key, value, mask, dropout, groups, "cpu", version_of(torch.__version__))
        assert is_fused != bool(refusals(call)), call
        compared += 1
    assert compared > 1000


@pytest.mark.parametrize("version", [(2, 11), (2, 13), (2, 15)])
def test_a_reason_is_known_wherever_torch_falls_back_on_a_gpu(version: tuple[int, int]) -> None:
    kernels = (gpu.FLASH, gpu.EFFICIENT, gpu.MATH, gpu.CUDNN)
    switches = gpu.Switches(frozenset(kernels), kernels, deterministic=False, cudnn_first=True)

    def operand(tensor: torch.Tensor) -> gpu.Operand:
        sizes = tuple(tensor.shape), tuple(tensor.stride())
        return gpu.Operand(*sizes, 0, tensor.dtype, tensor.requires_grad, nested=False)

    for query, key, value, mask, dropout, groups in calls():
        given = operand(query), operand(key), operand(value), None if mask is None else operand(mask)
        call = gpu.Call(*given, dropout, is_causal=False, enable_gqa=groups, grad_mode=True)
        chosen = choose(call, switches, gpu.Device((9, 0), is_hip=False), of(version)[0])
        if chosen.kernel == gpu.MATH:
            assert refusals(asked(query, key, value, mask, dropout, groups, "cuda", version)), call
