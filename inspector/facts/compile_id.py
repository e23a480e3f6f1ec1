"""The name of a compile: torch's id of it, and where torch has counted anew meanwhile, which count it is of.

`torch._dynamo.reset()` has torch begin again at `0/0`. The first count's names are torch's ids, `0/0`; those of the
second end with `#2`: `0/0#2`, `1/0#2`. So a name means one compile of a process.
"""

from typing import Final

_MARK: Final = "#"
_NONE: Final = 1 << 30


def compile_name(torch_id: str, count: int) -> str:
    """`0/0` of the first count, `0/0#2` of the second."""
    return torch_id if count <= 1 else f"{torch_id}{_MARK}{count}"


def torch_id(name: str) -> str:
    """What torch calls that compile, in its logs and in profiles: `0/0` of `0/0#2`."""
    return name.partition(_MARK)[0]


def frame_id(name: str) -> str:
    """What the compiles of one frame have in common: `0` of `0/1`, `0#2` of `0/1#2`."""
    own, mark, count = name.partition(_MARK)
    return own.partition("/")[0] + mark + count


def compile_order(name: str) -> tuple[int, ...]:
    """For sorting: the counts as they followed each other, in each the numbers of torch; what is no such name last."""
    own, _, count = name.partition(_MARK)
    return _number(count or "1"), *(_number(part) for part in own.split("/"))


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else _NONE
