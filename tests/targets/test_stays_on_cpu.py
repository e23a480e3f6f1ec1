"""What a program for a GPU leaves on the CPU is on the CPU for the target, too."""

from pathlib import Path

import torch

from inspect_compile.analysis.lookup.graphs import find_graph
from inspect_compile.dump import Dump, paths
from inspect_compile.lowering.intervention.cross_compile.pickling.graph_pickle import packed, unpacked
from inspect_compile.tables.lookup_text import only
from tests.running import inspected


def test_constants_and_random_numbers(tmp_path: Path) -> None:
    program = Path(__file__).parent / "programs" / "stays_on_cpu.py"

    done = inspected([program], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    text = dump.text(only(find_graph(dump, "inference")).graph, f"{paths.OUTPUT_CODE}.py") or ""
    assert "cpp_fused" in text  # random numbers are made where the program asked for no GPU
    assert "_to_copy" in text
    assert "lift_fresh" in text


def test_what_a_graph_itself_holds() -> None:
    """An optimizer's numbers, which Dynamo marks, and the tensors of a module are the GPU's; another number is not."""
    module = torch.nn.Module()
    module.norm = torch.nn.BatchNorm1d(2)
    tensors = {"step": torch.tensor(1.0), "factor": torch.tensor(2.0), "moments": torch.ones(2)}
    torch._dynamo.mark_static_address(tensors["step"])
    for name, tensor in tensors.items():
        module.register_buffer(name, tensor)
    graph = torch.fx.Graph()
    held = [graph.get_attr(name) for name in tensors]
    graph.output((graph.call_module("norm", (graph.placeholder("x"),)), *held))
    data = packed(torch.fx.GraphModule(module, graph), [torch.ones(3, 2)], {}, "0/0", (), uses_gpu=True)

    request, _ = unpacked(data)

    places = {name: str(tensor.device) for name, tensor in request.module.named_buffers()}
    assert places.pop("factor") == "cpu"
    assert set(places) == {"step", "moments", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}
    assert set(places.values()) == {"cpu:0"}
