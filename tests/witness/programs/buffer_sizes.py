"""Runs a script, and writes what Inductor itself says of the bytes of each scheduler node: OUT SCRIPT [ARG …]."""

import json
import runpy
import sys

import torch  # noqa: F401
from torch._inductor import scheduler
from torch._inductor.debug import get_aot_graph_name

out, script = sys.argv[1:3]
sys.argv = sys.argv[2:]
generate = scheduler.Scheduler.codegen


def codegen(self):
    with open(out, "a") as file:
        for node in self.nodes:
            row = {
                "graph": get_aot_graph_name(),
                "node": node.get_name(),
                "bytes": node.get_read_write_buffers_sizes(),
                "reads": node.get_read_write_buffer_accesses(include_reads=True, include_writes=False),
                "writes": node.get_read_write_buffer_accesses(include_reads=False, include_writes=True),
            }
            file.write(json.dumps(row) + "\n")
    return generate(self)


scheduler.Scheduler.codegen = codegen
runpy.run_path(script, run_name="__main__")
