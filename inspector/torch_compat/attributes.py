"""Private attributes of torch's objects that are read from an object at hand, or set on one.

What one that is gone costs is the hook that reads it, or what is done for a GPU that is not here.
"""

from typing import Final

from inspect_compile.torch_compat import Attribute

_SCHEDULER = "torch._inductor.scheduler"
_OPS = "torch._ops"
_SINGLETON_INT = "torch.utils._sympy.singleton_int"
_OPS_HANDLER = "torch._inductor.ops_handler"
_OUTPUT_GRAPH = "torch._dynamo.output_graph"
_CONFIG_MODULE = "torch.utils._config_module"

OPERATION_COUNT: Final = "__inner_fn_opcount_cache"
ORIGINAL: Final = "_torchdynamo_orig_callable"
WRAPPER_ID: Final = "_torchdynamo_wrapper_id"
SUBMODULES: Final = "_modules"
ORIGINAL_MODULE: Final = "_orig_mod"
TAKES_A_LIST: Final = "_boxed_call"
ATTRIBUTES: Final = (
    Attribute("torch.fx.graph", "Graph", "_codegen", "whether a loop body is printed in the plain way"),
    Attribute(
        "torch.autograd.grad_mode",
        "_unsafe_preserve_version_counter",
        "_version",
        "autograd's count of a tensor's changes",
    ),
    Attribute("torch.fx.node", "Node", "_erased", "a node that a rewrite has taken out of its graph"),
    Attribute("torch.fx.node", "Node", "_args", "what `args` returns, in a fifth of the time"),
    Attribute("torch.fx.node", "Node", "_kwargs", "what `kwargs` returns, in a fifth of the time"),
    Attribute(
        "torch._inductor.cudagraph_trees",
        "CUDAGraphTreeManager",
        "_current_node",
        "the recording that was made or is replayed",
    ),
    Attribute("torch._dynamo.metrics_context", "MetricsContext", "_level", "is a compile inside of another one?"),
    Attribute(_OPS, "OpOverload", "_schema", "the arguments of an operator, their names"),
    Attribute(_OPS, "OpOverload", "_op_dk", "runs an operator by the rule of one dispatch key alone"),
    Attribute(_OPS, "OpOverloadPacket", "_qualified_op_name", "`namespace::name` of an operator"),
    Attribute("torch._inductor.virtualized", "Virtualized", "_key", "where a thread keeps what it has at hand"),
    Attribute(_SINGLETON_INT, "SingletonInt", "_val", "which ragged size it is"),
    Attribute(_SINGLETON_INT, "SingletonInt", "_coeff", "how often that size"),
    Attribute(_SCHEDULER, "SchedulerNode", "_body", "the body of a node's loop"),
    Attribute(_SCHEDULER, "SchedulerNode", "_sizes", "the lengths of its loops"),
    Attribute(_SCHEDULER, "BaseSchedulerNode", "_debug_str_for_device", "what differs by device in a node's text"),
    Attribute("torch._inductor.graph", "GraphLowering", "_shape_env", "the symbols of a graph's sizes"),
    Attribute(
        "torch._inductor.pattern_matcher",
        "LoweringPatternEntry",
        "_inductor_lowering_function",
        "marks a function of the program's that lowers one node itself",
    ),
    Attribute(
        "torch._inductor.select_algorithm",
        "DataProcessorChoiceCallerWrapper",
        "_wrapped",
        "the choice whose inputs or outputs are made fit before and after it",
    ),
    Attribute(
        "torch._inductor.utils",
        "cache_on_self",
        OPERATION_COUNT,
        "what torch has counted of a loop: it keeps that of `inner_fn_opcount` here",
    ),
    Attribute(
        _OPS_HANDLER, "KernelFormatterHandler", "_write", "a line of a loop's text is written: ours stands in its place"
    ),
    Attribute(
        _OPS_HANDLER, "KernelFormatterHandler", "_default", "an operation of a loop's text: ours stands in its place"
    ),
    Attribute(
        "torch._dynamo.convert_frame", "ConvertFrame", "_torchdynamo_orig_backend", "the backend below what wraps it"
    ),
    Attribute(
        "torch._functorch._aot_autograd.utils",
        "make_boxed_func",
        TAKES_A_LIST,
        "a graph that is called as it is, and what stands in its place, get their inputs as one list",
    ),
    Attribute("torch.nn.modules.module", "Module", SUBMODULES, "the path of a module in the one that holds it"),
    Attribute(
        "torch._dynamo.eval_frame",
        "OptimizedModule",
        ORIGINAL_MODULE,
        "the same: what torch.compile was given is in it",
    ),
    Attribute("torch._dynamo.eval_frame", "_TorchDynamoContext", ORIGINAL, "the function that was compiled"),
    Attribute(
        "torch._dynamo.eval_frame",
        "_TorchDynamoContext",
        WRAPPER_ID,
        "a function that stands in the place of a compiled one is known by it",
    ),
    Attribute(
        "torch._dynamo.decorators",
        "assume_constant_result",
        "_dynamo_marked_constant",
        "marks a function whose answer is a constant of the graph",
    ),
    Attribute(
        "torch._dynamo.decorators",
        "mark_static_address",
        "_dynamo_static_input_type",
        "an input that is always at the same address",
    ),
    Attribute(
        _OUTPUT_GRAPH,
        "OutputGraph",
        "_param_name_to_source",
        "AOTAutograd asks where the parameters of a graph come from",
    ),
    Attribute(_OUTPUT_GRAPH, "OutputGraph", "_dynamo_source", "AOTAutograd asks where an input comes from"),
    Attribute(_CONFIG_MODULE, "ConfigModule", "_config", "all settings of a module, by their names"),
    Attribute(_CONFIG_MODULE, "ConfigModule", "_is_default", "has the program set this one?"),
    Attribute(
        "torch.fx.experimental.symbolic_shapes",
        "ShapeEnv",
        "_generate_unique_id",
        "numbers the symbols of sizes: a recorded graph keeps its own",
    ),
    Attribute("torch.storage", "UntypedStorage", "_cdata", "a number of a piece of memory"),
    *(
        Attribute("torch._library.custom_ops", "CustomOpDef", attribute, reason)
        for attribute, reason in (
            ("_qualname", "`namespace::name` of the program's operator"),
            ("_init_fn", "the function that it was made of"),
            ("_opoverload", "the operator that was made"),
            ("_schema", "its schema as a text"),
            ("_abstract_fn", "its shape function"),
            ("_backward_fn", "its backward"),
            ("_setup_context_fn", "what it keeps for its backward"),
        )
    ),
)
