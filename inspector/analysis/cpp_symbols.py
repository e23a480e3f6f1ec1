"""What stands in the name of a C++ symbol, mangled or as a tool shows it."""

import re

_LENGTH = re.compile(r"\d+")
_OF_KERNEL = re.compile(r"\bkernel\s*\(([^)]*)\)")


def identifiers(text: str) -> set[str]:
    """The identifiers of a symbol; in a mangled one each stands behind its length."""
    if not text.startswith("_Z"):
        return set(re.findall(r"[A-Za-z_]\w*", text.partition("(")[0]))
    names, at = set(), 2
    while (length := _LENGTH.search(text, at)) is not None:
        at = length.end() + int(length[0][:4])
        names.add(text[length.end() : at])
    return names


def parameters(text: str) -> list[str] | None:
    """The types of the parameters of the first function `kernel` in `text`; None where there is none.

    `float const*` and `const float* in_ptr0` are the same.
    """
    found = _OF_KERNEL.search(text)
    return None if found is None else [_type(parameter) for parameter in found[1].split(",")]


def _type(parameter: str) -> str:
    words = parameter.replace("*", " * ").replace("&", " & ").split()
    plain = [word for word in words if word not in ("const", "*", "&")]
    return plain[0] + "*" * ("*" in words) if plain else ""
