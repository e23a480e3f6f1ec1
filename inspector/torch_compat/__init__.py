"""Every private torch name that is used, as data: where it is, in which versions it was found, and why it is needed.

Where it is, in which versions it was seen, and why we need it. Imports nothing before it is asked to.

May not know torch itself: these are names, and nothing is imported.
"""

import contextlib
import importlib
from typing import Any, NamedTuple


class Name(NamedTuple):
    """A torch name below `module`: `Class.method`, a class, a function, or a module (`torch._inductor`, `config`)."""

    module: str
    attribute: str
    versions: str
    """The torch versions that it was seen in."""
    reason: str

    def __str__(self) -> str:
        return f"{self.module}.{self.attribute}"

    def load(self) -> Any:
        """What it is now, its module imported; ImportError or AttributeError where this torch has none."""
        found: Any = importlib.import_module(self.module)
        if not hasattr(found, self.attribute) and hasattr(found, "__path__"):
            with contextlib.suppress(ModuleNotFoundError):
                importlib.import_module(f"{self.module}.{self.attribute}")
        for part in self.attribute.split("."):
            found = getattr(found, part)
        return found


class Frame(NamedTuple):
    """A function of torch below `module`, and variables that are read while it runs, or from its closure."""

    module: str
    attribute: str
    """As Python writes it in `__qualname__`: `Class.method.<locals>.function`."""
    variables: tuple[str, ...]
    versions: str
    reason: str

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
    versions: str
    reason: str

    def __str__(self) -> str:
        return f"{self.module}.{self.owner}.{self.attribute}"
