"""torch's own list of its operators: for which dispatch keys each has a kernel, of a GPU too, which a build for the CPU
does not say.
"""

import functools
import importlib.util
import re
from pathlib import Path
from typing import Final

from inspect_compile.torch_compat import targets as names

_ENTRY: Final = re.compile(r"^- func: (?P<name>[\w.]+)\((?P<rest>.*\n(?:(?!- func:).*\n)*)", re.MULTILINE)
_KEYS: Final = re.compile(r"^    (?P<keys>\w+(?:, \w+)*): \w+", re.MULTILINE)
_DELEGATE: Final = re.compile(r"^  structured_delegate: (?P<name>[\w.]+)", re.MULTILINE)


@functools.cache
def keys_of_kernels() -> dict[str, frozenset[str]]:
    """Operator with its overload, `aten::mm.dtype` → "CPU", "CUDA", "CompositeImplicitAutograd" and so on.

    An operator without any is taken apart on all devices. Empty if torch came without the list.
    """
    package, inside = names.NATIVE_FUNCTIONS
    spec = importlib.util.find_spec(package)
    places = spec.submodule_search_locations if spec is not None else None
    path = Path(*(places or ())[:1], inside)
    if not path.is_file():
        return {}
    keys: dict[str, frozenset[str]] = {}
    delegates: dict[str, str] = {}
    for entry in _ENTRY.finditer(path.read_text(encoding="utf-8")):
        found = {key for line in _KEYS.finditer(entry["rest"]) for key in line["keys"].split(", ")}
        keys[f"aten::{entry['name']}"] = frozenset(found)
        if delegate := _DELEGATE.search(entry["rest"]):
            delegates[f"aten::{entry['name']}"] = f"aten::{delegate['name']}"
    return {name: keys[delegates.get(name, name)] | found for name, found in keys.items()}
