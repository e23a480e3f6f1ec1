# after pytorch#193751: argmax of the means of a channels-last image
import torch


def step(image):
    return image.mean(-1).argmax()


def inputs():
    torch.manual_seed(4)
    return (torch.randn(3, 4, 6, 5).to(memory_format=torch.channels_last),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
