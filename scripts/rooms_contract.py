"""An import-linter contract with one row a room: what that room may import. What no row allows is refused."""

import sys
from typing import cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

ROOT = "inspect_compile"
ANYTHING = "*"


class RoomsContract(Contract):
    """`rooms` holds rows such as `lowering: facts dump.paths sympy`: a room (a subpackage, or a module at the top),
    then other rooms, single modules of them, and third-party packages. The standard library and the root itself are
    open to all; `*` allows everything.

    Only direct imports count, those inside functions too. A room without a row breaks the contract, so that a new one
    cannot go unconsidered, and so does a row without a room.
    """

    type_name = "rooms"
    rooms = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        # A field holds its value on the instance and its declaration on the class, which is what types show.
        rows = (row.partition(":") for row in cast(list[str], self.rooms))
        allowed = {room.strip(): set(names.split()) for room, _, names in rows}
        ours = {module for module in graph.modules if room_of(module)}
        existing = {room_of(module) for module in ours}
        broken = [f"{room}: no row says what it may import" for room in sorted(existing - set(allowed))]
        broken += [f"{room}: there is a row, but no such room" for room in sorted(set(allowed) - existing)]
        for importer in sorted(ours):
            names = allowed.get(room_of(importer), {ANYTHING})
            open_to_it = {ROOT, *names, *(f"{ROOT}.{name}" for name in (room_of(importer), *names))}
            if ANYTHING in open_to_it:
                continue
            for imported in sorted(graph.find_modules_directly_imported_by(importer)):
                if open_to_it.isdisjoint(enclosing(imported)) and imported not in sys.stdlib_module_names:
                    details = graph.get_import_details(importer=importer, imported=imported)
                    lines = ", ".join(str(detail["line_number"]) for detail in details)
                    broken.append(f"{importer} imports {imported} (line {lines}), which {room_of(importer)} may not")
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["broken"]:
            output.print_error(line)


def enclosing(module: str) -> list[str]:
    """The module itself and the packages around it, but for our root, which is around everything."""
    parts = module.split(".")
    first = 2 if parts[0] == ROOT and len(parts) > 1 else 1
    return [".".join(parts[:end]) for end in range(first, len(parts) + 1)]


def room_of(module: str) -> str:
    """`dump` for `inspect_compile.dump.paths`, the root's own name for itself, nothing for another package's module."""
    parts = module.split(".")
    if parts[0] != ROOT:
        return ""
    return parts[1] if len(parts) > 1 else ROOT
