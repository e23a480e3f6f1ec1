"""AOTInductor: exports, compiles to a package, loads it and runs it; and Inductor with its C++ wrapper."""

import sys
import zipfile

import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x * 2, -1)


x = torch.ones(3, 4)
if sys.argv[1] == "package":
    program = torch.export.export(Net(), (x,))
    path = torch._inductor.aoti_compile_and_package(program, package_path="net.pt2")
    with zipfile.ZipFile(path) as package:
        print(sorted(name for name in package.namelist()))
    print(torch._inductor.aoti_load_package(path)(x))
else:
    torch._inductor.config.cpp_wrapper = True
    print(torch.compile(Net())(x))
