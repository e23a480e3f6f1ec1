"""What is known of one reason for which two nodes are not fused."""

from typing import Literal, NamedTuple

About = Literal["legality", "profit", "backend", "never tried"]
"""Fusing would be wrong; would not pay, or is switched off; this backend cannot write it; nobody asked."""


class Reason(NamedTuple):
    """One reason."""

    code: str
    templates: tuple[str, ...]
    """torch's own words: `%s` as torch has them, `{}` where an f-string has a hole. None for a reason of ours."""
    meaning: str
    """In plain words."""
    about: About
    advice: str = ""
    """What a person can do in their program."""
    knob: str = ""
    """What decides it in torch._inductor.config."""
    versions: str = "2.11-2.15"
    """Of torch, as `torch_compat` writes them; empty for a reason of ours."""
