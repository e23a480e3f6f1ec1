"""Where a sheet has what is selected: the same as looking at every row."""

import pytest

from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.provenance.chain import Selection
from inspect_compile.tui.models.chain import Chain, is_marked
from inspect_compile.tui.models.fusion import MODES as FUSION_MODES
from inspect_compile.tui.models.fusion import fusion
from inspect_compile.tui.models.kernels import kernels
from inspect_compile.tui.models.lowering import ir
from inspect_compile.tui.models.memory import MODES, memory
from inspect_compile.tui.models.places import RowIndex
from inspect_compile.tui.models.sheet import Sheet
from inspect_compile.tui.models.source import source
from tests.tui.driving import BACKWARD, FORWARD


@pytest.mark.parametrize("graph", [FORWARD, BACKWARD])
def test_the_first_marked_row_is_found_without_looking_at_all(mixed: Dump, graph: str) -> None:
    chain = Chain(CompiledGraph(mixed, graph))
    sheets: list[Sheet] = [source(mixed, chain, whole=False), ir(mixed, chain).sheet, kernels(mixed, chain)]
    sheets += [fusion(mixed, chain, mode).sheet for mode in FUSION_MODES]
    sheets += [memory(mixed, chain, mode).sheet for mode in MODES]
    subjects = {subject for sheet in sheets for index in range(len(sheet)) if (subject := sheet.subject(index))}
    selections = [Selection(), *(chain.choose(subject, "").selection for subject in subjects)]
    found = 0
    for sheet in sheets:
        places = RowIndex(sheet)
        for selection in selections:
            rows = range(len(sheet))
            first = next((index for index in rows if is_marked(sheet.subject(index), selection)), None)
            assert places.first(selection) == first
            found += first is not None

    assert len(subjects) > 20
    assert found > len(subjects)
