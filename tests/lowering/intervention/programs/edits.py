"""Mistakes that are made in the C++ code of a kernel: each edits one line of it.

An edit is a function of all lines and the index of one. It returns the line with the mistake, or None where the line has
nothing that it could change.
"""

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from addresses import lines_with_addresses

Edit = Callable[[Sequence[str], int], str | None]

_VALUE: Final = r"(?:tmp\w+)"
_INDEX: Final = r"static_cast<int64_t>\((?P<index>[^()]*)\)"
_LOAD: Final = re.compile(r"= .*?(?P<pointer>(?:in|out|in_out)_ptr\d+)(?: \+ |\[)" + _INDEX)
_STORE: Final = re.compile(
    r"^(?P<before>\s*(?:tmp\w+\.store\((?:in_)?out_ptr\d+ \+ |(?:in_)?out_ptr\d+\[))" + _INDEX + r"(?P<after>.*)$"
)

_OTHERS: Final = {"exp": "sin", "erf": "tanh", "tanh": "sin", "rsqrt": "sqrt", "sqrt": "rsqrt"}
_STRICT: Final = {"<=": "<", "<": "<=", ">=": ">", ">": ">="}


def replaced(pattern: str, by: str | Callable[[re.Match[str]], str]) -> Edit:
    """An edit that replaces the first match of `pattern`, if there is one."""

    def edit(lines: Sequence[str], at: int) -> str | None:
        found = re.sub(pattern, by, lines[at], count=1)
        return found if found != lines[at] else None

    return edit


def _constant(lines: Sequence[str], at: int) -> str | None:
    """A tenth more: visible in bfloat16 too."""
    found = re.search(r"= static_cast<float>\((-?[\d.e-]+)\);", lines[at])
    if found is None or abs(float(found[1])) < 1e-3:
        return None
    return lines[at].replace(f"({found[1]})", f"({float(found[1]) * 1.1})")


def _slightly_other_constant(lines: Sequence[str], at: int) -> str | None:
    """A thousandth more."""
    found = re.search(r"= static_cast<float>\((-?[\d.e-]+)\);", lines[at])
    if found is None or abs(float(found[1])) < 1e-3:
        return None
    return lines[at].replace(f"({found[1]})", f"({float(found[1]) * 1.001})")


def _index_before(lines: Sequence[str], at: int) -> str | None:
    """An element is read from where the one before is."""
    found = _LOAD.search(lines[at])
    if found is None or not re.search(r"x\d", found["index"]):
        return None
    return _with_index(lines[at], found, f"std::max<int64_t>(0L, {found['index']} - 1L)")


def _stored_before(lines: Sequence[str], at: int) -> str | None:
    """An element is written to where the one before belongs."""
    found = _STORE.search(lines[at])
    if found is None or not re.search(r"x\d", found["index"]):
        return None
    return _with_index(lines[at], found, f"std::max<int64_t>(0L, {found['index']} - 1L)")


def _without_variable(lines: Sequence[str], at: int) -> str | None:
    """A value is read as if it were the same along one dimension."""
    found = _LOAD.search(lines[at])
    if found is None or " + " not in found["index"]:
        return None
    return _with_index(lines[at], found, found["index"].rpartition(" + ")[0])


def _with_index(line: str, found: re.Match[str], index: str) -> str:
    return line[: found.start("index")] + index + line[found.end("index") :]


def _not_written(lines: Sequence[str], at: int) -> str | None:
    return ";" if _STORE.search(lines[at]) else None


def _partly_written(lines: Sequence[str], at: int) -> str | None:
    """As if another thread had been faster: a third of the elements keep what was there."""
    found = _STORE.search(lines[at])
    return f"if ((({found['index']}) / 8) % 3 != 1) {lines[at].strip()}" if found else None


def _lost_updates(lines: Sequence[str], at: int) -> str | None:
    """As if two threads had added at once: a third of the terms of a sum are lost."""
    variable = _innermost(lines, at)
    if variable is None or not re.search(r"^\s*(tmp_acc\w+) = .*\1", lines[at]):
        return None
    if "reduce_all" in lines[at]:
        return None
    return f"if (({variable} / 8) % 3 != 1) {{ {lines[at].strip()} }}"


def _innermost(lines: Sequence[str], at: int) -> str | None:
    for line in reversed(lines[:at]):
        found = re.search(r"for\(int64_t (x\d+)=", line)
        if found:
            return found[1]
    return None


def _earlier_value(lines: Sequence[str], at: int) -> str | None:
    """What is written is a value that was needed for it."""
    found = re.search(r"^\s*(tmp\d+)\.store\((?:in_)?out_ptr", lines[at])
    if found is None:
        return None
    made = next((each for each in reversed(lines[:at]) if f"auto {found[1]} =" in each), "")
    operand = re.search(rf"= (?:decltype\(\w+\)\()?({_VALUE}) [-+*/] ", made)
    return lines[at].replace(f"{found[1]}.store", f"{operand[1]}.store", 1) if operand else None


def _other_buffer(lines: Sequence[str], at: int) -> str | None:
    """Another buffer is read, of the same type and with the same index."""
    found = _LOAD.search(lines[at])
    if found is None or "auto tmp" not in lines[at]:
        return None
    plain = lines[at].partition("=")[2]
    for line in lines:
        other = _LOAD.search(line)
        if other is None or other["index"] != found["index"] or other["pointer"] == found["pointer"]:
            continue
        if line.partition("=")[2].replace(other["pointer"], found["pointer"]) == plain:
            return lines[at].replace(found["pointer"], other["pointer"])
    return None


def _shorter_loop(lines: Sequence[str], at: int) -> str | None:
    """The last step of a loop is left out."""
    found = re.search(r"(x\d+)<static_cast<int64_t>\((\d+)L\); \1\+=static_cast<int64_t>\((\d+)L\)", lines[at])
    if found is None or int(found[2]) <= int(found[3]):
        return None
    less = int(found[2]) - int(found[3])
    return lines[at].replace(f"<static_cast<int64_t>({found[2]}L)", f"<static_cast<int64_t>({less}L)", 1)


def _not_reset(lines: Sequence[str], at: int) -> str | None:
    """A sum goes on from that of the row before."""
    declared = re.search(
        r"^\s*(?:float|at::vec::Vectorized<float>|Welford<.*>) (?:tmp_acc|masked_tmp_acc)\w* =", lines[at]
    )
    return f"static thread_local {lines[at].strip()}" if declared else None


def _narrow(lines: Sequence[str], at: int) -> str | None:
    """A value in float32 is rounded to bfloat16; where the result is in bfloat16 that is no mistake."""
    found = re.search(rf"^\s*auto (tmp\d+) = ({_VALUE} [-+*/] {_VALUE});$", lines[at])
    if found is None or not any(f"{found[1]}.store" in line for line in lines[at:]):
        return None
    return f"auto {found[1]} = {_rounded(found[2], 1)};" if not any("BFloat16" in line for line in lines) else None


def _narrow_sum(lines: Sequence[str], at: int) -> str | None:
    """A sum is rounded to bfloat16 after each term."""
    found = re.search(r"^\s*(tmp_acc\d+_vec) = (\1 \+ tmp\d+);$", lines[at])
    if found is None:
        return None
    width = next((line for line in reversed(lines[:at]) if f"> {found[1]} =" in line), "")
    return (
        f"{found[1]} = {_rounded(found[2], 2 if 'VectorizedN<float,2>' in width else 1)};" if "float" in width else None
    )


def _rounded(value: str, vectors: int) -> str:
    half = f"at::vec::convert<at::BFloat16,1,float,{vectors}>({value})"
    return f"at::vec::convert<float,{vectors},at::BFloat16,1>({half})"


EDITS: dict[str, Edit] = {
    "constant": _constant,
    "slight constant": _slightly_other_constant,
    "swapped": replaced(rf"= ((?:decltype\(\w+\)\()?)({_VALUE}) ([-/]) ({_VALUE})", r"= \1\4 \3 \2"),
    "minus": replaced(rf"(auto tmp\d+ = (?:decltype\(\w+\)\()?{_VALUE}) \+ ({_VALUE}\)?;)", r"\1 - \2"),
    "plus": replaced(rf"(auto tmp\d+ = (?:decltype\(\w+\)\()?{_VALUE}) [-*] ({_VALUE}\)?;)", r"\1 + \2"),
    "extremum": replaced(
        r"(= .*at::vec::)(minimum|maximum)(\()",
        lambda found: f"{found[1]}{'maximum' if found[2] == 'minimum' else 'minimum'}{found[3]}",
    ),
    "function": replaced(
        r"\.(exp|erf|tanh|log|sqrt|rsqrt|sin|cos|sigmoid)\(\)",
        lambda found: f".{_OTHERS.get(found[1], 'abs')}()",
    ),
    "square": replaced(r"= ((?:decltype\(\w+\)\()?)(tmp\d+) \* \2(\)?);", r"= \1\2\3;"),
    "comparison": replaced(
        r"(tmp\d+) (<=|>=|<|>) (tmp\d+)",
        lambda found: f"{found[1]} {_STRICT.get(found[2])} {found[3]}",
    ),
    "mask": replaced(r"blendv\((tmp\d+), (tmp\d+),", r"blendv(\2, \1,"),
    "choice": replaced(r"(tmp\d+) \? (tmp\d+) : (tmp\d+)", r"\1 ? \3 : \2"),
    "negation": replaced(r"= ~(tmp\d+);", r"= \1;"),
    "initial": replaced(
        r"(tmp_acc\d+(?:_vec|_arr)? = (?:at::vec::Vectorized<float>\()?)(?:0|-?std::numeric_limits<float>::infinity\(\))"
        r"(?=\)?;)",
        r"\g<1>3.0f",
    ),
    "not reset": _not_reset,
    "index": _index_before,
    "store index": _stored_before,
    "broadcast": _without_variable,
    "loop end": _shorter_loop,
    "not written": _not_written,
    "earlier value": _earlier_value,
    "other buffer": _other_buffer,
    "partly written": _partly_written,
    "lost updates": _lost_updates,
    "added twice": replaced(r"(atomic_add\w*(?:<.*?>)?\(.*\);)", r"\1 \1"),
    "narrow": _narrow,
    "narrow sum": _narrow_sum,
}
"""Kind of mistake → its edit."""


class Fault(NamedTuple):
    """One mistake in one line of one kernel."""

    kind: str
    kernel: int
    """Which of the kernels of a compile, in the order in which they are loaded."""
    line: int
    """Line number in its source."""
    text: str
    """The line with the mistake."""


def faults(program: str, sources: Sequence[str], edits: Mapping[str, Edit], count: int) -> list[Fault]:
    """Up to `count` of these mistakes in the kernels, of as many kinds as can be, the same each time.

    With none of them a kernel reads or writes beside a buffer.
    """
    by_kind: dict[str, list[Fault]] = {}
    for kernel, (source, addresses) in enumerate(zip(sources, lines_with_addresses(sources), strict=True)):
        lines = source.split("\n")
        for kind, edit in edits.items():
            for at in range(len(lines)):
                text = None if at in addresses else edit(lines, at)
                if text is not None:
                    by_kind.setdefault(kind, []).append(Fault(kind, kernel, at + 1, text))
    for kind, found in by_kind.items():
        found.sort(key=lambda fault: zlib.crc32(f"{program} {kind} {fault.kernel} {fault.line}".encode()))
    ordered = sorted(by_kind, key=lambda kind: zlib.crc32(f"{program} {kind}".encode()))
    rounds = [by_kind[kind][turn] for turn in range(count) for kind in ordered if turn < len(by_kind[kind])]
    return rounds[:count]


def with_fault(source: str, fault: Fault) -> str:
    """The source with the mistake."""
    lines = source.split("\n")
    lines[fault.line - 1] = fault.text
    return "\n".join(lines)
