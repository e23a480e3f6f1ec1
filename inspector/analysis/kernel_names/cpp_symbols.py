"""Reads names and parameter types out of a C++ symbol, mangled or demangled."""

import re

_LENGTH = re.compile(r"\d+")
_OF_KERNEL = re.compile(r"\bkernel\s*+\(")


def identifiers(text: str) -> set[str]:
    """The identifiers in a symbol; in a mangled symbol each follows its length."""
    if not text.startswith("_Z"):
        return set(re.findall(r"[A-Za-z_]\w*", text.partition("(")[0]))
    names, at = set(), 2
    while (length := _LENGTH.search(text, at)) is not None:
        at = length.end() + int(length[0][:4])
        names.add(text[length.end() : at])
    return names


def parameters(text: str) -> list[str] | None:
    """Parameter types of the first function `kernel` in `text`; None if there is none.

    `float const*` and `const float* in_ptr0` give the same type.
    """
    found = _OF_KERNEL.search(text)
    end = -1 if found is None else text.find(")", found.end())
    return None if found is None or end < 0 else [_type(each) for each in text[found.end() : end].split(",")]


def _type(parameter: str) -> str:
    words = parameter.replace("*", " * ").replace("&", " & ").split()
    plain = [word for word in words if word not in ("const", "*", "&")]
    return plain[0] + "*" * ("*" in words) if plain else ""
