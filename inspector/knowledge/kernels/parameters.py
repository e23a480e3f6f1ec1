"""The parameters of the kernels that Inductor writes, in Triton and in C++."""

import re
from typing import Final

_SIGNATURE: Final = re.compile(r"(?:^|\n)(?:def \w+|extern \"C\"[^(\n]*)\(([^()]*)\)")
_POINTER: Final = re.compile(r"\b(?:in_out|in|out)_ptr\w*")


def pointers_of(source: str) -> tuple[str, ...]:
    """The parameters that are memory, in order; empty if the source has no function of the usual form."""
    found = _SIGNATURE.search(source)
    return tuple(dict.fromkeys(_POINTER.findall(found[1]))) if found is not None else ()
