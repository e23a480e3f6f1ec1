"""Which Triton is asked for is said in one place."""

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from inspect_compile.commands.run import check_triton
from inspect_compile.errors import CommandError
from inspect_compile.knowledge.targets.targets import TARGETS, TRITON

ROOT = Path(__file__).parents[2]


def test_the_packaging_asks_for_the_same() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    asked = [line for lines in extras.values() for line in lines if line.startswith("triton")]

    assert asked
    assert all(line.startswith(f"triton>={TRITON};") for line in asked)


@pytest.mark.parametrize("there", [[], ["3.2.0"]], ids=["none", "too-old"])
@pytest.mark.parametrize("target", TARGETS)
def test_every_refusal_names_it(target: str, there: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Found:
        version = "".join(there)

    monkeypatch.setattr(metadata, "distributions", lambda name: [Found() for _ in there])

    with pytest.raises(CommandError, match=f"{TRITON} or newer is needed to compile for a GPU"):
        check_triton([target])
