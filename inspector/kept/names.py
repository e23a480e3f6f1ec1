"""The names of a kept compile → those that its graphs have in this run."""

import re
from collections.abc import Mapping
from typing import Final

from inspect_compile.dump import paths

_NAMED: Final = re.compile(rb'"(graph|inductor_graph|compile_id|parent|aot_graph|name)":"([A-Za-z0-9_.#/+-]{1,2000})"')
"""A field of a row that can hold such a name. Quotes in texts are escaped, so nothing else looks like one."""


class Renamed:
    """`graphs`: outermost graphs, old → new; likewise the compile's id, and the beginning of torch's names."""

    def __init__(self, graphs: Mapping[str, str], compile_id: tuple[str, str], aot_id: tuple[str, str]) -> None:
        self._folders = {paths.graph_folder(old): paths.graph_folder(new) for old, new in graphs.items()}
        self._names = {**graphs, compile_id[0]: compile_id[1]}
        self._aot_id = aot_id
        self._is_same = all(old == new for old, new in self._names.items())

    def rows(self, data: bytes) -> bytes:
        """The rows of a table, with the names of this run."""
        return data if self._is_same else _NAMED.sub(self._name, data)

    def path(self, name: str) -> str:
        """The path of a file in the folder of a graph."""
        folder = "/".join(name.split("/")[:2])
        return f"{self._folders[folder]}{name[len(folder) :]}"

    def _name(self, match: re.Match[bytes]) -> bytes:
        field, name = match[1], match[2].decode()
        old, new = self._aot_id
        if field in (b"aot_graph", b"name"):
            named = f"{new}{name[len(old) :]}" if name.startswith(f"{old}_") else name
        else:
            # A compile id has a slash itself: what is nested in it, or in a graph, follows another one.
            before = name if name in self._names else next((o for o in self._names if name.startswith(f"{o}/")), "")
            named = f"{self._names[before]}{name[len(before) :]}" if before else name
        return b'"%b":"%b"' % (field, named.encode())
