"""A table as plain text, for the message of an assertion."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from inspect_compile.tables.styled_text import Block

WIDTH: Final = 140


def rendered(block: "Block") -> str:
    """What a terminal without colours would show."""
    from inspect_compile.tables.block_lines import plain_text

    return "\n".join(line.rstrip() for line in plain_text(block, WIDTH).splitlines())
