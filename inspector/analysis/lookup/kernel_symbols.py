"""Reads what a kernel's symbol says: the names and types in a C++ one, the properties of arguments in one of Triton 2.

Before 3.0 Triton named a kernel after its function and properties of its arguments. `triton__0d1c` is `triton_`, an
underscore, and `0d1c`: argument 0 is divisible by 16 (d), argument 1 equal to 1 (c); e stood for divisible by 8.
(kernel_suffix in Triton's compiler/code_generator.py.) Inductor writes the same properties into a kernel's source, as
triton_meta.
"""

import ast
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

_NAME = re.compile(r"(?P<function>[A-Za-z_]\w*?)_(?P<arguments>0[0-9cde]*)", re.ASCII)
_LETTERS = re.compile(r"[cde]*")
_WORDS: Final = {"c": "equal to 1", "d": "divisible by 16", "e": "divisible by 8"}
_META = re.compile(r"^[ \t]*triton_meta=(\{.*\}),?\s*$", re.MULTILINE)
_DEVICE = re.compile(r"\b\w+\((?:[^()]|\([^()]*\))*\)")
"""DeviceProperties(…) and AttrsDescriptor(…), which are no literals."""
_LONGEST: Final = 1 << 16
"""Maximum length of a triton_meta: a few hundred characters per argument, and a GPU takes at most 4 kB of arguments."""
_DIVISIBLE = re.compile(r"divisible_by_16=\(([\d, ]*)\)")
_EQUAL = re.compile(r"equal_to_1=\(([\d, ]*)\)")
_LENGTH = re.compile(r"\d+")
_OF_KERNEL = re.compile(r"\bkernel\s*+\(")


class Signature(msgspec.Struct, frozen=True):
    """What a name says: the letters of each argument, in order."""

    function: str
    letters: tuple[str, ...]

    @property
    def words(self) -> str:
        """`argument 0 divisible by 16, argument 1 equal to 1`."""
        parts = (
            f"argument {number} {' and '.join(_WORDS[letter] for letter in letters)}"
            for number, letters in enumerate(self.letters)
            if letters
        )
        return ", ".join(parts) or "nothing known of the arguments"


def suffix(letters: Sequence[str]) -> str:
    """`0d1c`."""
    return "".join(f"{number}{own}" for number, own in enumerate(letters))


def decode(name: str) -> Signature | None:
    """What `name` says; None if it has no such form: `triton_poi_fused_add_0` is an ordinary name."""
    found = _NAME.fullmatch(name)
    if found is None or not re.search(r"\d[cde]", found["arguments"]):
        return None
    letters: list[str] = []
    arguments, at = found["arguments"], 0
    while at < len(arguments):
        number = str(len(letters))
        if not arguments.startswith(number, at):
            return None
        own = _LETTERS.match(arguments, at + len(number))
        assert own is not None
        letters.append(own[0])
        at = own.end()
    return Signature(found["function"], tuple(letters))


def of_source(source: str) -> tuple[str, ...] | None:
    """The letters of each argument (c, d) of the kernel with that source; None if it has no triton_meta."""
    found = _META.search(source)
    if found is None or len(found[1]) > _LONGEST:
        return None
    meta = _literal(found[1])
    signature = meta.get("signature") if meta is not None else None
    if meta is None or not isinstance(signature, dict):
        return None
    constants = meta.get("constants") if isinstance(meta.get("constants"), dict) else {}
    divisible, equal = _configured(meta.get("configs"), found[1])
    letters = []
    for index, (name, kind) in enumerate(signature.items()):
        constant = constants.get(name, constants.get(index)) if constants else None
        if kind == "constexpr" and constant is None:
            continue  # a block size, which is no argument of the compiled kernel
        is_one = constant == 1 or index in equal
        letters.append("c" if is_one else "d" if index in divisible else "")
    return tuple(letters)


def _literal(text: str) -> dict[str, Any] | None:
    """A dict literal, without the entries that are not literals. Nothing is executed."""
    try:
        found = ast.literal_eval(_DEVICE.sub("None", text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _configured(configs: Any, text: str) -> tuple[set[int], set[int]]:
    """Positions of arguments divisible by 16, and equal to 1, as Triton 3 or an earlier descriptor writes them."""
    divisible: set[int] = set()
    for config in configs if isinstance(configs, list) else ():
        for where, facts in config.items() if isinstance(config, dict) else ():
            if isinstance(where, tuple) and where and ["tt.divisibility", 16] in list(facts):
                divisible.add(where[0])
    divisible |= _numbers(_DIVISIBLE, text)
    return divisible, _numbers(_EQUAL, text)


def _numbers(pattern: re.Pattern[str], text: str) -> set[int]:
    found = pattern.search(text)
    return {int(number) for number in found[1].split(",") if number.strip()} if found else set()


def agrees(said: Sequence[str], own: Sequence[str]) -> bool:
    """True if a kernel whose arguments have the letters `own` can have a name that says `said`.

    Next to d, e adds nothing; alone it says that an argument is not divisible by 16.
    """
    return [letters.replace("e", "") for letters in said] == list(own)


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
