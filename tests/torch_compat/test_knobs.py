"""The settings that are worth a try, held against the torch that is installed."""

from typing import Any

import pytest
import torch
from torch._inductor import config

from inspect_compile.knowledge.fusion.knob_values import KNOBS, Knob, by_name, worth_trying
from inspect_compile.lowering.intervention.replay.knobs import checked
from inspect_compile.lowering.intervention.replay.runnable import RefusedError
from inspect_compile.torch_compat import Name
from tests.private_names import covers


@pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: knob.name)
def test_a_knob_is_there_in_its_versions_and_takes_its_values(knob: Knob) -> None:
    if not covers(Name("torch._inductor", "config", "", knob.versions), torch.__version__):
        with pytest.raises(RefusedError, match="has no such setting"):
            checked({knob.name: knob.values[0]})
        return
    for value in knob.values:
        assert checked({knob.name: value}) == {knob.name: value}
    if torch.__version__.startswith("2.15"):
        settings: Any = config
        entry = settings._config[knob.name]
        assert checked({knob.name: knob.default}) == {knob.name: knob.default}
        assert entry.deprecated or entry.default == knob.default


def test_each_is_there_once_and_is_told() -> None:
    assert len({knob.name for knob in KNOBS}) == len(KNOBS)
    assert all(knob.values and knob.effect for knob in KNOBS)


def test_what_a_compile_had_is_no_news() -> None:
    assert worth_trying("split_reductions") == (False,)
    assert worth_trying("split_reductions", False) == ()
    assert worth_trying("score_fusion_memory_threshold", 1) == (0,)
    assert worth_trying("loop_ordering_after_fusion") == (False,)
    assert worth_trying("loop_ordering_after_fusion", False) == (True,)
    assert worth_trying("no_such") == ()
    assert by_name("no_such") is None
