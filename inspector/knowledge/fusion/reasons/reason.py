"""The description of one reason for not fusing two nodes."""

from typing import Literal, NamedTuple

About = Literal["legality", "profit", "backend", "never tried"]
"""Fusing would be wrong; would not pay off, or is turned off; this backend cannot generate it; nobody asked."""


class Reason(NamedTuple):
    """One reason."""

    code: str
    templates: tuple[str, ...]
    """torch's words: `%s` as in torch, `{}` for a hole of an f-string. None for a reason of this tool."""
    meaning: str
    """In plain words."""
    about: About
    advice: str = ""
    """What the user can change in their program."""
    knob: str = ""
    """The setting in torch._inductor.config that decides."""
    versions: str = "2.11-2.15"
    """torch versions, in the form of `torch_compat`; empty for a reason of this tool."""
