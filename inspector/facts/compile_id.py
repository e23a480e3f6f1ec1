"""Names of compiles: torch's compile id, with a suffix if torch has restarted its numbering.

After `torch._dynamo.reset()` torch starts again at `0/0`. Names of the first numbering are torch's ids, `0/0`; those of
the second end with `#2`: `0/0#2`, `1/0#2`. So a name is unique in a process.
"""

import re
from typing import Final

_MARK: Final = "#"
_NONE: Final = 1 << 30
_COMPILE: Final = re.compile(r"(\d+/(\d+))(?:_\d+)?((?:#\d+)?)")


def compile_name(torch_id: str, count: int) -> str:
    """`0/0` for the first numbering, `0/0#2` for the second."""
    return torch_id if count <= 1 else f"{torch_id}{_MARK}{count}"


def torch_id(name: str) -> str:
    """torch's id of that compile in its logs and in profiles: `0/0` for `0/0#2`."""
    return name.partition(_MARK)[0]


def frame_id(name: str) -> str:
    """The common part of all compiles of a frame: `0` for `0/1`, `0#2` for `0/1#2`."""
    own, mark, count = name.partition(_MARK)
    return own.partition("/")[0] + mark + count


def same_compile(name: str) -> str | None:
    """The name that all attempts of a compile share: `0/1` for `0/1_2`; None for what is no compile's name."""
    match = _COMPILE.fullmatch(name)
    return None if match is None else match[1] + match[3]


def compile_number(name: str) -> int | None:
    """How often the frame had been compiled before: 1 for `0/1` and `0/1_2`; None for what is no compile's name."""
    match = _COMPILE.fullmatch(name)
    return None if match is None else int(match[2])


def compile_order(name: str) -> tuple[int, ...]:
    """Sort key: numberings in order, within each torch's numbers; anything else last."""
    own, _, count = name.partition(_MARK)
    return _number(count or "1"), *(_number(part) for part in own.split("/"))


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else _NONE
