"""The command that shows in a shell what the screen shows."""

import shlex
from typing import Final

from inspect_compile.tui.models.chain import Choice

TABLES: Final = {
    "source": "kernels",
    "fx": "lowering",
    "ir": "lowering",
    "fusion": "fusion",
    "kernels": "kernels",
    "flops": "flops",
    "output": "wrapper",
}
"""View → the table of `show` that has the same facts."""


def command(dump: str, graph: str | None, view: str, choice: Choice | None) -> str:
    """A command line; `dump` is its path as a person would type it."""
    words = ["inspect-compile", "show", dump]
    if graph is None:
        return shlex.join(words)
    if (
        choice is not None
        and choice.subject.level == "node"
        and len(choice.subject.names) == 1
        and view in ("fx", "ir")
    ):
        words += ["node", str(choice.subject.names[0])]
    else:
        words.append(TABLES.get(view, "summary"))
    return shlex.join([*words, "--graph", graph, "--json"])
