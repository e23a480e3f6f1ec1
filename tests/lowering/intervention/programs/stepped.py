"""Each operation has a kernel of its own: those that are a step of a node's lowering too."""

from networks import results

if __name__ == "__main__":
    print([one.sum().item() for one in results("stages", compiled=True)])
