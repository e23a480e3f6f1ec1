"""Mistakes that are made in the Triton code of a kernel: each edits one line of it, as those of `edits.py` do in C++."""

import re
from collections.abc import Sequence
from typing import Final

from edits import Edit, replaced

_LOAD: Final = re.compile(
    r"^(?P<before>\s*tmp\w+ = tl\.load\((?P<pointer>\w+_ptr\d+) \+ \()(?P<index>.*)(?P<after>\), .*)$"
)
_STORE: Final = re.compile(
    r"^(?P<before>\s*tl\.store\(\w+_ptr\d+ \+ \()(?P<index>.*)(?P<after>\), (?P<value>tmp\w+), (?P<mask>.*)\))$"
)

_OTHERS: Final = {"exp": "sin", "erf": "tanh", "tanh": "sin", "rsqrt": "sqrt", "sqrt": "rsqrt"}
_STRICT: Final = {"<=": "<", "<": "<=", ">=": ">", ">": ">="}


def _times(factor: float) -> Edit:
    def edit(lines: Sequence[str], at: int) -> str | None:
        found = re.search(r"tmp\w+ = tl\.full\(\[[\d, ]+\], (-?[\d.e-]+), tl\.float32\)", lines[at])
        if found is None or abs(float(found[1])) < 1e-3:
            return None
        return lines[at].replace(f", {found[1]}, ", f", {float(found[1]) * factor}, ")

    return edit


def _index_before(lines: Sequence[str], at: int) -> str | None:
    """An element is read from where the one before is."""
    found = _LOAD.search(lines[at])
    if found is None or not re.search(r"[xr]\d", found["index"]):
        return None
    return f"{found['before']}tl.maximum(({found['index']}) - 1, 0){found['after']}"


def _stored_before(lines: Sequence[str], at: int) -> str | None:
    """An element is written to where the one before belongs."""
    found = _STORE.search(lines[at])
    if found is None or not re.search(r"[xr]\d", found["index"]):
        return None
    return f"{found['before']}tl.maximum(({found['index']}) - 1, 0){found['after']}"


def _without_variable(lines: Sequence[str], at: int) -> str | None:
    """A value is read as if it were the same along one dimension."""
    found = _LOAD.search(lines[at])
    if found is None or " + " not in found["index"]:
        return None
    index = found["index"].rpartition(" + ")[0]
    return f"{found['before']}{index}{found['after']}" if index.count("(") == index.count(")") else None


def _not_written(lines: Sequence[str], at: int) -> str | None:
    found = _STORE.search(lines[at])
    return f"{lines[at][: len(lines[at]) - len(lines[at].lstrip())]}pass" if found else None


def _partly_written(lines: Sequence[str], at: int) -> str | None:
    """As if another block had been faster: a third of the elements keep what was there."""
    found = _STORE.search(lines[at])
    if found is None or not re.search(r"[xr]\d", found["index"]) or found["mask"] == "None":
        return None
    place = f"((({found['index']}) // 8) % 3) != 1"
    return lines[at].replace(f"{found['value']}, {found['mask']})", f"{found['value']}, ({found['mask']}) & ({place}))")


def _earlier_value(lines: Sequence[str], at: int) -> str | None:
    """What is written is a value that was needed for it."""
    found = _STORE.search(lines[at])
    if found is None:
        return None
    made = next((each for each in reversed(lines[:at]) if each.strip().startswith(f"{found['value']} = ")), "")
    operand = re.search(r"= \(?(tmp\d+) [-+*/] ", made)
    return lines[at].replace(f" {found['value']}, ", f" {operand[1]}, ", 1) if operand else None


def _other_buffer(lines: Sequence[str], at: int) -> str | None:
    """Another buffer is read, of the same type and with the same index."""
    found = _LOAD.search(lines[at])
    if found is None:
        return None
    for line in lines:
        other = _LOAD.search(line)
        if other is not None and other["pointer"] != found["pointer"]:
            if (other["index"], other["after"]) == (found["index"], found["after"]):
                return lines[at].replace(found["pointer"], other["pointer"], 1)
    return None


def _where_no_assertion_fails(edit: Edit) -> Edit:
    """An index out of range fails an assertion of the kernel, which ends CUDA for the process and all later mistakes."""

    def checked(lines: Sequence[str], at: int) -> str | None:
        return None if any("tl.device_assert(" in line for line in lines[at:]) else edit(lines, at)

    return checked


_EDITS: Final[dict[str, Edit]] = {
    "constant": _times(1.1),
    "slight constant": _times(1.001),
    "swapped": replaced(r"= (\(?)(tmp\d+) ([-/]) (tmp\d+)", r"= \1\4 \3 \2"),
    "minus": replaced(r"(tmp\d+ = tmp\d+) \+ (tmp\d+)$", r"\1 - \2"),
    "plus": replaced(r"(tmp\d+ = tmp\d+) [-*] (tmp\d+)$", r"\1 + \2"),
    "extremum": replaced(
        r"triton_helpers\.(minimum|maximum)\(",
        lambda found: f"triton_helpers.{'maximum' if found[1] == 'minimum' else 'minimum'}(",
    ),
    "function": replaced(r"libdevice\.(exp|erf|tanh|rsqrt|sqrt)\(", lambda found: f"libdevice.{_OTHERS[found[1]]}("),
    "square": replaced(r"= (tmp\d+) \* \1$", r"= \1"),
    "comparison": replaced(
        r"(tmp\d+ = tmp\d+) (<=|>=|<|>) (tmp\d+)$", lambda found: f"{found[1]} {_STRICT[found[2]]} {found[3]}"
    ),
    "choice": replaced(r"(tmp\d+ = tl\.where\(tmp\d+), (tmp\d+), (tmp\d+)\)", r"\1, \3, \2)"),
    "negation": replaced(r"= -(tmp\d+)$", r"= \1"),
    "mask": replaced(r"(tmp\d+ = tl\.where\(.*mask.*, tmp\d+), 0\)", r"\1, 1)"),
    "initial": replaced(r"(_tmp\d+ = tl\.full\(\[.*\], )0(, tl\.float32\))", r"\g<1>0.01\2"),
    "index": _index_before,
    "store index": _stored_before,
    "broadcast": _without_variable,
    "not written": _not_written,
    "partly written": _partly_written,
    "earlier value": _earlier_value,
    "other buffer": _other_buffer,
    "added twice": replaced(r"(\s*)(tl\.atomic_add\(.*\))$", r"\1\2; \2"),
    "narrow": replaced(r"(tmp\d+ = )(tmp\d+ [-+*] tmp\d+)$", r"\1(\2).to(tl.bfloat16).to(tl.float32)"),
}
EDITS: Final = {kind: _where_no_assertion_fails(edit) for kind, edit in _EDITS.items()}
"""Kind of mistake → its edit."""
