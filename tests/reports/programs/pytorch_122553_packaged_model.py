# after pytorch#122553: a packaged model that normalises by buffers gives what eager gives
import tempfile
from pathlib import Path

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([[[0.4]], [[0.5]], [[0.6]]]))
        self.register_buffer("spread", torch.tensor([[[0.2]], [[0.2]], [[0.3]]]))

    def forward(self, x):
        return ((x - self.mean) / self.spread).relu().mean((-1, -2))


net, x = Net().eval(), torch.rand(2, 3, 16, 16)
with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
    exported = torch.export.export(net, (x,))
    path = torch._inductor.aoti_compile_and_package(exported, package_path=str(Path(folder, "net.pt2")))
    print(torch.allclose(torch._inductor.aoti_load_package(path)(x), net(x), atol=1e-5))
