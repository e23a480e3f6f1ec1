# after pytorch#93457: integers that are read from a tensor break the graph at each of them
import torch


@torch.compile
def size(box, x):
    width = int(box[2] - box[0])
    height = int(box[3] - box[1])
    return x * width + height


for at in range(3):
    size(torch.tensor([0, 0, 3 + at, 4 + at]), torch.ones(3))
