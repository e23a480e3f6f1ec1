"""Names that are replaced in a program whose CUDA is mapped to the CPU."""

from inspect_compile.torch_compat import Name

_TRACE_RULES = "torch._dynamo.trace_rules"

LAZY_INIT = Name("torch.cuda", "_lazy_init", "torch calls it where a CUDA device is named, once")
MODULE_TO = Name("torch.nn.modules.module", "Module.to", "is told a device by its number, too")
AUTOCAST = Name("torch.amp.autocast_mode", "autocast.__init__", "is told for which device to cast")
GRAD_SCALER = Name("torch.amp.grad_scaler", "GradScaler.__init__", "is told for which device to scale")
INIT_PROCESS_GROUP = Name(
    "torch.distributed.distributed_c10d", "init_process_group", "is told of the backend, NCCL say"
)
DATA_PARALLEL = Name(
    "torch.nn.parallel.distributed",
    "DistributedDataParallel.__init__",
    "refuses a device's index for a module that is on the CPU",
)
SHARD_DEVICE = Name(
    "torch.distributed.fsdp._fully_shard._fully_shard",
    "_get_device_from_mesh",
    "FSDP2 refuses a DTensor on the CPU for a mesh of GPUs",
)
FAKE_TENSOR = Name("torch._subclasses.fake_tensor", "FakeTensor.__new__", "is told of its device")
FROM_TENSOR = Name(
    "torch._subclasses.fake_tensor",
    "FakeTensorConverter.from_real_tensor",
    "gives a number on the CPU its value in a trace, and no number on a GPU",
)
TENSOR_ATTRIBUTES = tuple(
    Name(
        "torch._dynamo.variables.tensor",
        f"TensorVariable.{method}",
        "what a compiled function hears of a tensor's device",
    )
    for method in ("method_attr_device", "method_attr_is_cuda")
)
TENSOR_METHODS = Name(_TRACE_RULES, "get_tensor_method", "the methods of a tensor that can stand in a graph")
SKIP = Name(_TRACE_RULES, "add", "names a package that Dynamo does not compile")
GRAPH_CLASSES = Name(
    "torch._dynamo.variables.user_defined",
    "UserDefinedClassVariable._in_graph_classes",
    "the classes whose objects can be made in a graph: torch.cuda.Event, say",
)
ON_BEHALF = tuple(
    Name(f"torch._dynamo.variables.{module}", attribute, "asks what the program would, on its behalf")
    for module, attribute in (("torch", "TorchInGraphFunctionVariable"), ("functions", "UserFunctionVariable"))
)
EXCHANGE_DEVICE = ("_exchange_device", "_maybe_exchange_device")
"""In torch.cuda, 2.11 to 2.15: called by `with torch.cuda.device(0)`."""
HISTOGRAM_SHAPE = Name("torch._meta_registrations", "meta_histc", "refuses a histogram of whole numbers on the CPU")
CPU_KEY = Name("torch._C", "DispatchKey.CPU", "has an operator a kernel of its own for the CPU?")
CUDA_KEY = Name("torch._C", "DispatchKey.CUDA", "has an operator a kernel of its own for a GPU?")
FLEX_DEVICE, FLEX_OPTIONS = (
    Name("torch.nn.attention.flex_attention", attribute, "refuses a backward, or results beside the first, on the CPU")
    for attribute in ("_validate_device", "_apply_kernel_options")
)
NO_SHAPE = tuple(
    Name("torch._subclasses.fake_tensor", attribute, "there is no telling what an operator returns without its numbers")
    for attribute in (
        "UnsupportedFakeTensorException",
        "DynamicOutputShapeException",
        "DataDependentOutputException",
        "UnsupportedOperatorException",
    )
)
