"""The operations in a scheduler node's name."""

import re

_OPERATION = re.compile(r"\w*op\d+")
_WORD = re.compile(r"\w*")


def operations_in(name: str) -> list[str]:
    """`op9` and `op10` for `op9_op10`.

    Names in nested graphs contain further underscores: `true_graph_0_op3_true_graph_0_op4`.
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
