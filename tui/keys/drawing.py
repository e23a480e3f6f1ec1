"""Runs `inspect-compile draw` for the selection: in a process of its own, so that a big drawing never holds up the
screen.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final

from inspect_compile.errors import CommandError

PATIENCE: Final = 90.0
"""Seconds; `draw` itself gives Graphviz at most 60."""


def draw_words(dump: str, graph: str, around: str) -> list[str]:
    """Arguments of `inspect-compile` that draw the schedule around a name, before and after fusion."""
    return ["draw", dump, "schedule", "--graph", graph, "--around", around]


def draw(root: Path, graph: str, around: str) -> list[str]:
    """Draw; the files that were written. Raises CommandError with what `draw` said."""
    command = [sys.executable, "-P", "-m", "inspect_compile", *draw_words(str(root.absolute()), graph, around)]
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
