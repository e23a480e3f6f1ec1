"""A module with parameters, packaged by AOTInductor: `python aoti_parameters.py`."""

import tempfile

import torch


class Net(torch.nn.Module):
    """Parameters of a module within, of a list, and its own."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(8, 8), torch.nn.LayerNorm(8)])
        self.scale = torch.nn.Parameter(torch.ones(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x).relu()
        return x * self.scale


with tempfile.TemporaryDirectory() as folder, torch.no_grad():
    exported = torch.export.export(Net().eval(), (torch.ones(4, 8),))
    torch._inductor.aoti_compile_and_package(exported, package_path=f"{folder}/net.pt2")
print("packaged")
