# after pytorch#117281: an argument that is changed keeps CUDA graphs from being used
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


@torch.compile(mode="reduce-overhead")
def step(x, cache):
    y = x * 2
    cache[:, 1] = y
    return (cache.softmax(-1) * y.unsqueeze(1)).sum(1)


with torch.no_grad():
    step(torch.randn(4, 64, device=device), torch.zeros(4, 16, 64, device=device))
