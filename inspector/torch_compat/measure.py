"""Names for timing launches."""

from inspect_compile.torch_compat import Name

CUDA = Name("torch", "cuda", "2.11-2.15", "events, and whether a CUDA graph is being captured")
SPIN = Name("torch.cuda", "_sleep", "2.11-2.15", "keeps a stream busy for so many cycles of the device's clock")
BUILT_FOR = Name("torch.version", "cuda", "2.11-2.15", "the CUDA that torch is built for; None for another device")
