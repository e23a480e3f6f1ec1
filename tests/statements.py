"""What every recorded statement of a kernel must be: of a node that torch names as an origin of its kernel too."""

from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, KernelBody
from inspect_compile.knowledge.kernels.statement_forms import is_statement


def statements_missing(dump: Dump) -> list[str]:
    """Statements of which no node is known, and nodes that are no origins; asserts that there were any statements."""
    found: list[str] = []
    checked = 0
    kernels = {(row.graph, row.name): row for row in dump.rows(Kernel) if row.kind != "extern"}
    bodies = {(row.graph, row.kernel): row for row in dump.rows(KernelBody)}
    for key, kernel in kernels.items():
        if kernel.kind == "user_triton":
            continue
        source = dump.text(kernel.graph, kernel.source)
        assert source is not None
        body = bodies.get(key)
        if body is None:
            found.append(f"{kernel.name}: nothing is known")
            continue
        mapped = {row.line for row in body.statements if row.nodes}
        for number, line in enumerate(source.splitlines(), 1):
            if is_statement(line.strip()):
                checked += 1
                if number not in mapped:
                    found.append(f"{kernel.name}:{number}: {line.strip()}")
        found += [f"{kernel.name}: line {line} is unmapped" for line in body.unmapped]
    for row in dump.rows(KernelBody):
        origins = kernels[row.graph, row.kernel].nodes
        found += [f"{row.kernel}: {name} is no origin" for name in row.nodes if name not in origins]
    assert checked or not kernels
    return found
