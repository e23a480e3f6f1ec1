"""Private attributes of torch's objects that are read from an object at hand, or set on one.

What one that is gone costs is the hook that reads it, or what is done for a GPU that is not here.
"""

from typing import Final

from inspect_compile.torch_compat import Attribute

OPERATION_COUNT: Final = "__inner_fn_opcount_cache"
ATTRIBUTES: Final = (
    Attribute("torch.fx.graph", "Graph", "_codegen", "2.11-2.15", "whether a loop body is printed in the plain way"),
    Attribute("torch.fx.node", "Node", "_erased", "2.11-2.15", "a node that a rewrite has taken out of its graph"),
    Attribute(
        "torch._inductor.cudagraph_trees",
        "CUDAGraphTreeManager",
        "_current_node",
        "2.11-2.15",
        "the recording that was made or is replayed",
    ),
    Attribute(
        "torch._dynamo.metrics_context", "MetricsContext", "_level", "2.11-2.15", "is a compile inside of another one?"
    ),
    Attribute("torch._ops", "OpOverload", "_schema", "2.11-2.15", "the arguments of an operator, their names"),
    Attribute(
        "torch._ops", "OpOverload", "_op_dk", "2.11-2.15", "runs an operator by the rule of one dispatch key alone"
    ),
    Attribute("torch._ops", "OpOverloadPacket", "_qualified_op_name", "2.11-2.15", "`namespace::name` of an operator"),
    Attribute(
        "torch._inductor.virtualized", "Virtualized", "_key", "2.11-2.15", "where a thread keeps what it has at hand"
    ),
    Attribute("torch.utils._sympy.singleton_int", "SingletonInt", "_val", "2.11-2.15", "which ragged size it is"),
    Attribute("torch.utils._sympy.singleton_int", "SingletonInt", "_coeff", "2.11-2.15", "how often that size"),
    Attribute("torch._inductor.scheduler", "SchedulerNode", "_body", "2.11-2.15", "the body of a node's loop"),
    Attribute("torch._inductor.scheduler", "SchedulerNode", "_sizes", "2.11-2.15", "the lengths of its loops"),
    Attribute(
        "torch._inductor.scheduler",
        "BaseSchedulerNode",
        "_debug_str_for_device",
        "2.11-2.15",
        "what differs by device in a node's text",
    ),
    Attribute("torch._inductor.graph", "GraphLowering", "_shape_env", "2.11-2.15", "the symbols of a graph's sizes"),
    Attribute(
        "torch._inductor.pattern_matcher",
        "LoweringPatternEntry",
        "_inductor_lowering_function",
        "2.11-2.15",
        "marks a function of the program's that lowers one node itself",
    ),
    Attribute(
        "torch._inductor.select_algorithm",
        "DataProcessorChoiceCallerWrapper",
        "_wrapped",
        "2.11-2.15",
        "the choice whose inputs or outputs are made fit before and after it",
    ),
    Attribute(
        "torch._inductor.utils",
        "cache_on_self",
        OPERATION_COUNT,
        "2.11-2.15",
        "what torch has counted of a loop: it keeps that of `inner_fn_opcount` here",
    ),
    Attribute(
        "torch._inductor.ops_handler",
        "KernelFormatterHandler",
        "_write",
        "2.11-2.15",
        "a line of a loop's text is written: ours stands in its place",
    ),
    Attribute(
        "torch._inductor.ops_handler",
        "KernelFormatterHandler",
        "_default",
        "2.11-2.15",
        "an operation of a loop's text: ours stands in its place",
    ),
    Attribute(
        "torch._dynamo.convert_frame",
        "ConvertFrame",
        "_torchdynamo_orig_backend",
        "2.11-2.15",
        "the backend below what wraps it",
    ),
    Attribute(
        "torch._dynamo.decorators",
        "assume_constant_result",
        "_dynamo_marked_constant",
        "2.11-2.15",
        "marks a function whose answer is a constant of the graph",
    ),
    Attribute(
        "torch._dynamo.decorators",
        "mark_static_address",
        "_dynamo_static_input_type",
        "2.11-2.15",
        "an input that is always at the same address",
    ),
    Attribute(
        "torch._dynamo.output_graph",
        "OutputGraph",
        "_param_name_to_source",
        "2.11-2.15",
        "AOTAutograd asks where the parameters of a graph come from",
    ),
    Attribute(
        "torch._dynamo.output_graph",
        "OutputGraph",
        "_dynamo_source",
        "2.11-2.15",
        "AOTAutograd asks where an input comes from",
    ),
    Attribute(
        "torch.utils._config_module", "ConfigModule", "_config", "2.11-2.15", "all settings of a module, by their names"
    ),
    Attribute(
        "torch.utils._config_module", "ConfigModule", "_is_default", "2.11-2.15", "has the program set this one?"
    ),
    Attribute(
        "torch.fx.experimental.symbolic_shapes",
        "ShapeEnv",
        "_generate_unique_id",
        "2.11-2.15",
        "numbers the symbols of sizes: a recorded graph keeps its own",
    ),
    Attribute("torch.storage", "UntypedStorage", "_cdata", "2.11-2.15", "a number of a piece of memory"),
    *(
        Attribute("torch._library.custom_ops", "CustomOpDef", attribute, "2.11-2.15", reason)
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
