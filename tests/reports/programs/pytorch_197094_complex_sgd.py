# after pytorch#197094: the compiled step of SGD with complex parameters fails
import torch

parameter = torch.nn.Parameter(torch.complex(torch.randn(3, 2), torch.randn(3, 2)))
optimizer = torch.optim.SGD([parameter], lr=0.1, foreach=True)
parameter.grad = torch.ones_like(parameter)
torch.compile(optimizer.step)()
