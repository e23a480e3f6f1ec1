"""A table as plain text, for the message of an assertion."""

import io

WIDTH = 140


def rendered(found: object) -> str:
    """What a terminal without colours would show."""
    from rich.console import Console

    file = io.StringIO()
    Console(file=file, width=WIDTH, color_system=None, markup=False, emoji=False, highlight=False).print(found)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())
