"""How our own probes fared: told at once, at the end, and in the summary."""

from pathlib import Path

from inspect_compile.analysis.dumps.rows import disabled, hooks
from inspect_compile.facts import Hook
from tests.handmade import made


def test_the_last_word_on_a_hook_holds(tmp_path: Path) -> None:
    told = [
        Hook(probe="p", target="gone", state="missing"),
        Hook(probe="p", target="raises", state="failed", calls=1),
        Hook(probe="p", target="raises", state="failed", calls=2),
        Hook(probe="p", target="well", state="closed"),
    ]
    dump = made(tmp_path, *told)

    assert [(hook.target, hook.calls) for hook in hooks(dump)] == [("gone", 0), ("raises", 2), ("well", 0)]
    assert [hook.target for hook in disabled(dump)] == ["raises", "gone"]
