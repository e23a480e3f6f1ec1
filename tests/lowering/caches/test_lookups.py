"""What is said of torch's caches, held against what was changed between two compiles and what torch itself counts."""

import json
from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.caches.lookups import LookupRow, lookup_rows
from inspect_compile.analysis.caches.words import difference_text
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from tests.conftest import run_once
from tests.private_names import version
from tests.running import inspected, plain

PROGRAM = Path(__file__).parents[1] / "programs" / "keyed.py"
# A graph that AOTAutograd's cache has is not looked up in the other one.
OFF = {"TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}

PLANTED = {
    "setting": ["torch._inductor.config.epilogue_fusion: True → False"],
    "setting of C++": ["torch._inductor.config.cpp.min_chunk_size: 512 → 1024"],
    "setting of Triton": ["torch._inductor.config.triton.unique_kernel_names: True → False"],
    "unused setting": ["torch._inductor.config.max_autotune_gemm_backends: ATEN,TRITON,CPP → ATEN"],
    "provenance": ["the level of provenance tracking: 0 → 1"],
    "threads": ["the number of threads: 2 → 1"],
    "dtype by default": ["torch.get_default_dtype(): torch.float32 → torch.float64"],
    "deterministic": [
        "torch.use_deterministic_algorithms and what belongs to it: (False, False, True) → (True, False, True)",
        "torch._inductor.config.deterministic: False → True",
    ],
    "tf32": ["TF32 and reductions in reduced precision: "],
    "tf32 off by name": ["TF32 and reductions in reduced precision: "],
    "tag": ["torch.compiler.config.cache_key_tag: empty → other"],
    "pass": ["a custom pass after autograd: None → one"],
    "another pass": ["a custom pass after autograd: one → other"],
    "address": ["a custom pass of the joint graph: None → at 0x"],
    "another address": ["a custom pass of the joint graph: at 0x"],
    "a set": ["a custom pass of the joint graph: None → frozenset({0, 8})"],
    "the same set": [
        (
            "a custom pass of the joint graph: frozenset({0, 8}) → frozenset({8, 0}) "
            "(the same elements in another order, as in a set)"
        )
    ],
    "a time": ["a custom pass after autograd: None → 1"],
    "another time": ["a custom pass after autograd: 1"],
    "flag of the compiler": ["torch._inductor.config.cpp.enable_floating_point_contract_flag: off → fast"],
    "size": [f"input {number}: shape torch.Size([8, 12]) → torch.Size([9, 12])" for number in (0, 1)],
    "dtype": ["input 0: dtype torch.float32 → torch.float64"],
    "strides": ["the graph: ", "input 0: stride (12, 1) → (1, 8)"],
    "constant": ["the graph: mul = torch.ops.aten.mul.Tensor(relu, 2.0)"],
    "operator": ["the graph: "],
    "another operator": ["the graph: once = torch.ops.keyed.once.default("],
}
"""What was changed → what is said to differ, each from its beginning."""
SINCE_2_13 = ("provenance", "threads", "dtype by default")
"""Of these, what the keys of torch 2.11 do not hold: it hits."""


@pytest.fixture(scope="module")
def recorded(shared_folder: Path) -> tuple[list[str], list[LookupRow]]:
    """What was changed, in order; the lookups of the compiles."""
    folder = shared_folder / "keyed"
    own = {**OFF, "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}
    done = run_once(folder, lambda folder: inspected([PROGRAM], folder, options=["--cache", "keep"], environment=own))
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1], lookup_rows(Graphs(Dump(folder / "dump")))


@pytest.fixture(scope="module")
def planted(recorded: tuple[list[str], list[LookupRow]]) -> dict[str, LookupRow]:
    """What was changed → the lookup of its compile."""
    names, rows = recorded
    return dict(zip(names, (row for row in rows if not row.kernel), strict=True))


@pytest.mark.parametrize("name", PLANTED)
def test_a_change_is_named(planted: dict[str, LookupRow], name: str) -> None:
    if name in SINCE_2_13 and version(torch.__version__) < (2, 13):
        pytest.skip("no part of a key of this torch's")
    row = planted[name]
    told = [difference_text(one) for one in row.differing]

    assert row.outcome == "miss"
    assert len(told) == len(PLANTED[name]), told
    assert all(text.startswith(wanted) for text, wanted in zip(told, PLANTED[name], strict=True)), told


@pytest.mark.parametrize(
    ("name", "why"),
    [("another address", "an address, which differs in each process"), ("another time", "a time")],
)
def test_a_value_that_differs_from_run_to_run(planted: dict[str, LookupRow], name: str, why: str) -> None:
    (one,) = planted[name].differing

    assert difference_text(one).endswith(f" ({why})")


def test_kernels_that_are_found_again_and_those_that_are_not(
    recorded: tuple[list[str], list[LookupRow]], planted: dict[str, LookupRow]
) -> None:
    kernels = {row.graph: row for row in recorded[1] if row.cache == "cpp"}
    first, same, flag = (kernels[planted[name].graph] for name in ("first", "tag", "flag of the compiler"))

    assert first.kernel.startswith("cpp_fused_")
    assert (first.outcome, same.outcome, flag.outcome) == ("miss", "hit", "miss")
    assert first.key == same.key != flag.key
    assert [difference_text(one) for one in flag.differing] == [
        "the compiler's command (-ffp-contract=fast): nothing → -ffp-contract=fast",
        "the compiler's command (-ffp-contract=off): -ffp-contract=off → nothing",
    ]


def test_what_the_cache_cannot_keep(planted: dict[str, LookupRow]) -> None:
    assert (planted["lambda"].outcome, planted["lambda"].reason) == ("bypass", "Unsupported post grad custom pass")


def test_the_first_lookup_has_none_to_be_compared_with(planted: dict[str, LookupRow]) -> None:
    first = planted["first"]

    assert (first.outcome, first.nearest, first.differing) == ("miss", None, ())
    assert (first.function, Path(first.file).name) == ("scaled", PROGRAM.name)


def test_an_earlier_run_in_which_a_variable_was_set(tmp_path: Path) -> None:
    script = tmp_path / "sines.py"
    script.write_text("import torch\n@torch.compile\ndef f(x):\n    return x.sin().sum()\nf(torch.ones(8))")
    own = {**OFF, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor")}
    for name, variable in (("first", {}), ("second", {"TORCHINDUCTOR_MAX_AUTOTUNE": "1"})):
        options = ["--cache", "keep", "--dump", name]
        done = inspected([script], tmp_path, options=options, environment={**own, **variable})
        assert done.returncode == 0, done.stderr
    shown = plain(
        ["-m", "inspect_compile", "show", tmp_path / "second", "caches", "--earlier", tmp_path / "first", "--json"],
        tmp_path,
    )

    row, kernel = map(json.loads, shown.stdout.splitlines())
    assert (kernel["cache"], kernel["nearest_run"]) == ("cpp", "first")
    assert (row["nearest"], row["nearest_run"], row["outcome"]) == ("0/0", "first", "miss")
    changed = [(one["part"], one["member"], one["before"], one["after"]) for one in row["differing"]]
    assert ("inductor_config", "max_autotune", "False", "True") in changed
