# after pytorch#184542: an indexed write through a flat view copied the whole buffer; by now it does not
import torch


@torch.compile
def store(buffer, index, values):
    buffer.view(-1)[index] = values
    return buffer


with torch.no_grad():
    store(torch.zeros(256, 256), torch.arange(64), torch.ones(64))
