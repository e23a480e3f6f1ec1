"""The base of every fact, and the pieces that several stages share."""

from typing import ClassVar

import msgspec


class Fact(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="fact", tag=str.lower):
    """One thing that the compiler did, as plain values.

    `table` names the `.jsonl` file that a fact goes to; `per_graph` says whether that file stands in the graph's
    folder or at the top of the dump.
    """

    table: ClassVar[str]
    per_graph: ClassVar[bool] = True

    graph: str = ""
    """`model__0_forward_1.0`, for a nested lowering `model__0_forward_1.0/true_graph_0`.

    For Dynamo's own facts the compile id `0/0`.
    """


class Location(msgspec.Struct, frozen=True, gc=False):
    """A line of the user's program, as the compiler noted it."""

    file: str
    line: int
    function: str = ""
    code: str = ""


class Tensor(msgspec.Struct, frozen=True, gc=False):
    """What is known of a tensor without its values.

    Sizes and strides are texts where they are symbolic; strides count elements.
    """

    dtype: str
    size: tuple[int | str, ...]
    stride: tuple[int | str, ...] = ()
    device: str = ""
    bytes: int | None = None
    """Length of the contents, symbols at their hints; None where a size has no hint."""
