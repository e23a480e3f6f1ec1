"""The parameters of the kernels that Inductor writes, in Triton and in C++, and the arguments of a call as a text."""

import re
from typing import Final

_SIGNATURE: Final = re.compile(r"(?:^|\n)(?:def \w+|extern \"C\"[^(\n]*)\(([^()]*)\)")
_POINTER: Final = re.compile(r"\b(?:in_out|in|out)_ptr\w*")


def pointers_of(source: str) -> tuple[str, ...]:
    """The parameters that are memory, in order; empty if the source has no function of the usual form."""
    signatures = (_POINTER.findall(found[1]) for found in _SIGNATURE.finditer(source))  # those of helpers come first
    return next((tuple(dict.fromkeys(pointers)) for pointers in signatures if pointers), ())


def split_arguments(text: str) -> list[str]:
    """`buf2, reinterpret_tensor(buf3, (2, 3))` → each of the two: what stands between the outer commas."""
    found, depth, begin = list[str](), 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            found.append(text[begin:place])
            begin = place + 1
    found.append(text[begin:])
    return [argument.strip() for argument in found if argument.strip()]
