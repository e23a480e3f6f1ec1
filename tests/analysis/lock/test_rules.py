"""Rules of a contract: what each text means, and what a mistake is told."""

import pytest

from inspect_compile.analysis.lock.rules import (
    DEFAULT,
    Bound,
    Forbidden,
    Ignore,
    NoChange,
    Rule,
    RuleError,
    Together,
    parsed,
    rule,
)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("no change", NoChange("no change")),
        ("no change in kernels.backward", NoChange("no change in kernels.backward", "kernels", "backward")),
        ("ignore guards", Ignore("ignore guards", "guards")),
        ("recompiles <= 1", Bound("recompiles <= 1", "recompiles", "", "<=", 1.0, is_multiple=False)),
        ("graph_breaks = 0", Bound("graph_breaks = 0", "graph_breaks", "", "=", 0.0, is_multiple=False)),
        ("kernels.forward<=12", Bound("kernels.forward<=12", "kernels", "forward", "<=", 12.0, is_multiple=False)),
        ("spills == 0", Bound("spills == 0", "spills", "", "=", 0.0, is_multiple=False)),
        ("peak <= 1.02x", Bound("peak <= 1.02x", "peak", "", "<=", 1.02, is_multiple=True)),
        ("peak.backward < 1.5 GB", Bound("peak.backward < 1.5 GB", "peak", "backward", "<", 1.5e9, is_multiple=False)),
        ("flops <= 2 GFLOP", Bound("flops <= 2 GFLOP", "flops", "", "<=", 2e9, is_multiple=False)),
        ("fused(model.py:14, gelu)", Together("fused(model.py:14, gelu)", ("model.py:14", "gelu"))),
        ("no fallback aten.cumsum", Forbidden("no fallback aten.cumsum", "fallback", "aten.cumsum")),
        ("no fallbacks", Forbidden("no fallbacks", "fallback")),
        ("no dtypes float64", Forbidden("no dtypes float64", "dtypes", "float64")),
    ],
)
def test_what_a_text_means(text: str, meant: Rule) -> None:
    assert rule(text) == meant


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kernel <= 3", "is kernels meant?"),
        ("kernels.sideways <= 3", "there are forward, backward, inference"),
        ("recompiles.forward <= 1", "counted in functions"),
        ("kernels <= many", "'many' is not a value"),
        ("kernels at most 3", "a rule is one of"),
        ("", "a rule is one of"),
        ("no", "`no` of what?"),
        ("no peak", "`no` can be about"),
        ("no change kernels", "`no change in METRIC`"),
        ("ignore", "ignore which one metric?"),
        ("fused(gelu)", "fused with what?"),
        ("status <= 3", "status is not a number"),
    ],
)
def test_a_mistake_is_told_with_what_would_be_right(text: str, told: str) -> None:
    with pytest.raises(RuleError) as caught:
        rule(text)
    assert told in str(caught.value)
    assert repr(text) in str(caught.value)


def test_the_usual_rules_can_be_read() -> None:
    assert [one.text for one in parsed(DEFAULT)] == list(DEFAULT)


@pytest.mark.parametrize(
    ("text", "found", "before", "holds"),
    [
        ("peak <= 1.02x", 102, 100, True),
        ("peak <= 1.02x", 103, 100, False),
        ("kernels < 3", 3, 0, False),
        ("kernels >= 3", 3, 0, True),
        ("kernels > 3", 3, 9, False),
        ("kernels = 1x", 4, 4, True),
    ],
)
def test_bounds(text: str, found: int, before: int, holds: bool) -> None:
    bound = rule(text)
    assert isinstance(bound, Bound)
    assert bound.holds(found, before) is holds
