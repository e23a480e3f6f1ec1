"""Each class of line that the Python wrapper of the installed torch can have has a kind here."""

import importlib.util
import re
from pathlib import Path

from inspect_compile.codegen.wrapper.wrapper import WHAT

_OF_FX = {"ConditionalLine", "SwitchLine"}
"""Written only where a graph is made of the wrapper, and no code."""
_BASES = {"WrapperLine", "MemoryPlanningLine", "HasWriteLine"}


def test_every_line_has_a_kind() -> None:
    spec = importlib.util.find_spec("torch._inductor.codegen.wrapper")
    assert spec is not None
    assert spec.origin is not None
    classes = set(re.findall(r"^class (\w+Line)\b", Path(spec.origin).read_text(encoding="utf-8"), re.MULTILINE))
    assert len(classes) > 20
    assert classes - WHAT.keys() - _OF_FX - _BASES == set()
