"""Runs a script, and writes what Inductor itself says of the bytes of each scheduler node: OUT SCRIPT [ARG …].

The last row is the sum that torch keeps, `metrics.num_bytes_accessed`, of the graphs that went through compile_fx.
"""

import json
import runpy
import sys

import torch
from torch._inductor import metrics, scheduler
from torch._inductor.debug import get_aot_graph_name
from torch._inductor.graph import SubgraphLowering
from torch._inductor.virtualized import V

out, script = sys.argv[1:3]
sys.argv = sys.argv[2:]
generate = scheduler.Scheduler.codegen


def codegen(self):
    with open(out, "a") as file:
        for node in self.nodes:
            row = {
                "graph": get_aot_graph_name(),
                "node": node.get_name(),
                "nested": isinstance(V.graph, SubgraphLowering),
                "bytes": node.get_read_write_buffers_sizes(),
                "reads": node.get_read_write_buffer_accesses(include_reads=True, include_writes=False),
                "writes": node.get_read_write_buffer_accesses(include_reads=False, include_writes=True),
            }
            file.write(json.dumps(row) + "\n")
    return generate(self)


scheduler.Scheduler.codegen = codegen
torch._logging.set_logs(inductor_metrics=True)  # torch counts for this log alone
runpy.run_path(script, run_name="__main__")
with open(out, "a") as file:
    file.write(json.dumps({"sum": metrics.num_bytes_accessed}) + "\n")
