"""The operations that a scheduler node's name tells."""

import re

_OPERATION = re.compile(r"\w*op\d+")
_WORD = re.compile(r"\w*")


def operations_in(name: str) -> list[str]:
    """The operations that the name of a scheduler node tells: `op9` and `op10` of `op9_op10`.

    A nested graph's have underscores of their own: `true_graph_0_op3_true_graph_0_op4`.
    """
    found: list[str] = []
    waiting: list[str] = []
    for word in name.split("_"):
        if _WORD.fullmatch(word):
            waiting.append(word)
        else:
            waiting.clear()
        if _OPERATION.fullmatch(word):
            found.append("_".join(waiting))
            waiting.clear()
    return found
