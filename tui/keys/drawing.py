"""Runs `inspect-compile draw`: in a process of its own, so that a big drawing never holds up the screen."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from inspect_compile.errors import CommandError

PATIENCE: Final = 90.0
"""Seconds; `draw` itself gives Graphviz at most 60."""


def around(root: Path, graph: str, name: str) -> list[str]:
    """Arguments of `inspect-compile` that draw the schedule around a name, before and after fusion."""
    return ["draw", str(root.absolute()), "schedule", "--graph", graph, "--around", name]


def draw(words: Sequence[str]) -> list[str]:
    """Draw, given the arguments of `inspect-compile`; the files that were written. Raises CommandError with what `draw`
    said.
    """
    command = [sys.executable, "-P", "-m", "inspect_compile", *words]
    try:
        found = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CommandError(f"draw: {error}") from None
    written = found.stdout.splitlines()
    if found.returncode or not written:
        said = found.stderr.strip().splitlines()
        raise CommandError(said[-1] if said else f"draw ended with exit status {found.returncode}")
    return written
