"""Ranks, each compiled for GPUs that are not there."""

from pathlib import Path

import pytest

from inspect_compile.analysis.compare.ranks import agreement
from inspect_compile.analysis.dumps.parts import as_compiled
from inspect_compile.analysis.lookup.parts import find_rank, find_target
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Run
from inspect_compile.tables.lookup_text import only
from tests.handmade import graph, kernel, made

TARGETS = ("sm_90", "gfx942")


@pytest.fixture
def run(tmp_path: Path) -> Dump:
    """Two ranks, of which one has another kernel for gfx942."""
    for rank in (0, 1):
        made(tmp_path / f"rank_{rank}", run=Run(rank=rank, targets=TARGETS, status="finished"))
        for target in TARGETS:
            name = "other" if (rank, target) == (1, "gfx942") else "triton_poi_fused_0"
            folder = tmp_path / f"rank_{rank}" / f"target_{target}"
            made(folder, graph(), kernel(name), run=Run(rank=rank, target=target, status="finished"))
    return made(tmp_path, run=Run(status="finished"))


def test_ranks_are_compared_where_their_kernels_are(run: Dump) -> None:
    assert [part.dump.root.name for part in as_compiled(run).values()] == ["target_sm_90"] * 2
    assert not agreement(as_compiled(run)).differences
    assert agreement(as_compiled(only(find_target(run, "gfx942")))).differences


def test_a_target_is_chosen_of_a_rank_or_of_all(run: Dump) -> None:
    assert only(find_target(only(find_rank(run, 1)), "gfx942")).root.parts[-2:] == ("rank_1", "target_gfx942")
    for dump in (run, only(find_rank(run, 1))):
        with pytest.raises(CommandError, match=r"nothing in .* was compiled for it; there are: sm_90, gfx942"):
            only(find_target(dump, "sm_80"))
