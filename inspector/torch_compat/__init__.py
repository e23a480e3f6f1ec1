"""Every private torch name that is used, as data: where it is, why it is needed, and in which versions it was seen.

May not know torch itself: these are names, and nothing is imported before it is asked for.
"""

import contextlib
import importlib
from typing import Any, Final, NamedTuple

SEEN: Final = "2.11-2.15"
"""The torch versions that a name was seen in, unless it says otherwise."""


class Name(NamedTuple):
    """A torch name below `module`: `Class.method`, a class, a function, or a module (`torch._inductor`, `config`)."""

    module: str
    attribute: str
    reason: str
    versions: str = SEEN

    def __str__(self) -> str:
        return f"{self.module}.{self.attribute}"

    def load(self) -> Any:
        """What it is now, its module imported; ImportError or AttributeError where this torch has none."""
        found: Any = importlib.import_module(self.module)
        if not hasattr(found, self.attribute) and hasattr(found, "__path__"):
            with contextlib.suppress(ModuleNotFoundError):
                importlib.import_module(f"{self.module}.{self.attribute}")
        return _inside(found, self.attribute)

    def put(self, value: Any) -> None:
        """Make it `value` until the process ends: for what intervenes, never for a probe.

        Raises what `load` raises if its module or class is not there; the last part of the name may be new.
        """
        owner, _, last = self.attribute.rpartition(".")
        setattr(_inside(importlib.import_module(self.module), owner), last, value)


def _inside(found: Any, path: str) -> Any:
    for part in path.split(".") if path else ():
        found = getattr(found, part)
    return found


class Frame(NamedTuple):
    """A function of torch below `module`, and variables that are read while it runs, or from its closure."""

    module: str
    attribute: str
    """As Python writes it in `__qualname__`: `Class.method.<locals>.function`."""
    variables: tuple[str, ...]
    reason: str
    versions: str = SEEN

    def __str__(self) -> str:
        return f"{self.module}.{self.attribute}({', '.join(self.variables)})"

    @property
    def function(self) -> str:
        """The name in its code."""
        return self.attribute.rpartition(".")[2]

    @property
    def file(self) -> str:
        """The end of its file's path, `torch/_inductor/scheduler.py`."""
        return f"{self.module.replace('.', '/')}.py"


class Attribute(NamedTuple):
    """A private attribute of torch's objects: one that a class of `module` sets or defines."""

    module: str
    owner: str
    """The class, or the function that sets it."""
    attribute: str
    reason: str
    versions: str = SEEN

    def __str__(self) -> str:
        return f"{self.module}.{self.owner}.{self.attribute}"
