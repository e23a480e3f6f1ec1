"""The words of findings: what each kind means for a person who does not know the compiler, and what can be done."""

from typing import Final, NamedTuple


class Words(NamedTuple):
    """One kind of finding, or one variety of a kind."""

    what: str
    to_do: str = ""
    """What a person can change; empty if each finding has its own advice."""


MISSED_FUSION: Final = "missed-fusion"
SECOND_STAGES: Final = "second-stages"
APART_HANDED: Final = "apart-handed"
APART_READ: Final = "apart-read"
COPY: Final = "copy"
LIBRARY_COPY: Final = "library-copy"
INPUT_COPY: Final = "input-copy"
JOINING: Final = "joining"
JOINING_CALLS: Final = "joining-calls"
PADDING_BY_HAND: Final = "padding-by-hand"
PRODUCT_COPY: Final = "product-copy"
CONVOLUTION_JOINED: Final = "convolution-joined"
EINSUM_COPY: Final = "einsum-copy"
LAYOUT: Final = "layout"
LIBRARY_LAYOUT: Final = "library-layout"
CONVOLUTION_LAYOUT: Final = "convolution-layout"
CONVOLUTION_LAST: Final = "convolution-last"
PADDED_LAYOUT: Final = "padded-layout"
LAYOUT_CHANGES: Final = "layout-changes"
PADDING: Final = "padding"
BREAK: Final = "graph-break"
BREAK_MASK: Final = "break-mask"
BREAK_NUMBER: Final = "break-number"
BREAK_BUILTIN: Final = "break-builtin"
BREAK_LIBRARY: Final = "break-library"
BREAK_DDP: Final = "break-ddp"
NOTHING_COMPILED: Final = "Python runs this line, and in its function nothing else is compiled"
"""In the place of a break's words where neither what comes before it nor what is left behind it made a graph."""
LIBRARY: Final = "library"
RECOMPILE: Final = "recompile"
RECOMPILE_STATIC: Final = "recompile-static"
RECOMPILE_NUMBER: Final = "recompile-number"
RECOMPILE_CONSTANT: Final = "recompile-constant"
RECOMPILE_INDEX: Final = "recompile-index"
RECOMPILE_MODULE: Final = "recompile-module"
RECOMPILE_GLOBAL: Final = "recompile-global"
RECOMPILE_CONDITION: Final = "recompile-condition"
RECOMPILE_FIXED: Final = "recompile-fixed"
RECOMPILE_ONE: Final = "recompile-one"
RECOMPILE_STRIDE: Final = "recompile-stride"
RECOMPILE_GRADIENT: Final = "recompile-gradient"
RECOMPILE_CONVERT: Final = "recompile-convert"
RECOMPILE_TYPE: Final = "recompile-type"
RECOMPILE_VALUE: Final = "recompile-value"
RECOMPILE_BOOL: Final = "recompile-bool"
RECOMPILE_NONE: Final = "recompile-none"
RECOMPILE_KEYS: Final = "recompile-keys"
RECOMPILE_LENGTH: Final = "recompile-length"
RECOMPILE_INSTANCE: Final = "recompile-instance"
RECOMPILE_IDENTITY: Final = "recompile-identity"
RECOMPILE_FUNCTION: Final = "recompile-function"
RECOMPILE_MODE: Final = "recompile-mode"
RECOMPILE_TRAINING: Final = "recompile-training"
RECOMPILE_ALIAS: Final = "recompile-alias"
RECOMPILE_BACKEND: Final = "recompile-backend"
RECOMPILE_UNKNOWN: Final = "recompile-unknown"
RECOMPILE_REST: Final = "recompile-rest"
RECOMPILE_AFTER: Final = "recompile-after"
RECOMPILE_STATE: Final = "recompile-state"
RECOMPILE_LIMIT: Final = "recompile-limit"
CACHE: Final = "cache"
CACHE_MISS: Final = "cache-miss"
FOREACH: Final = "foreach"
FALLBACK: Final = "fallback"
COMPLEX: Final = "complex"
SPILL: Final = "spill"
NO_CUDAGRAPH: Final = "no-cudagraph"
CUDAGRAPH_AGAIN: Final = "cudagraph-again"
MEMORY: Final = "memory"
NUMERICS: Final = "numerics"
FAILED: Final = "failed-compile"
FAILED_CALL: Final = "failed-call"
TUNED: Final = "tuned"
INCOMPLETE: Final = "incomplete"
PROBE: Final = "probe"
SLOW_PROBES: Final = "slow-probes"
LAUNCH_BOUND: Final = "launch-bound"
LAUNCH_BOUND_HOST: Final = "launch-bound-host"
LAUNCH_BOUND_SKIPPED: Final = "launch-bound-skipped"
HALF_PRECISION: Final = "half-precision"
DOUBLE_PRECISION: Final = "float64"
MATMUL_PRECISION: Final = "matmul-precision"
OPTIMIZER: Final = "optimizer"
SYNCHRONISATION: Final = "synchronisation"
SYNCHRONISATION_ASKED: Final = "synchronisation-asked"
INPUT: Final = "input"
TRANSFER: Final = "transfer"
TRANSFER_PINNED: Final = "transfer-pinned"
TRANSFER_BACK: Final = "transfer-back"
EAGER: Final = "eager"
EAGER_TENSORS: Final = "eager-tensors"
EAGER_BREAK: Final = "eager-break"
UNROLLED: Final = "compile-time"
AUTOTUNING: Final = "autotuning"
OWN_PASS: Final = "own-pass"
LAYERS: Final = "compile-time-layers"
MUTATION: Final = "mutation"
DDP_CUTS: Final = "ddp-cuts"
ATTENTION: Final = "attention"
ATTENTION_BY_HAND: Final = "attention-by-hand"

WORDS: Final[dict[str, Words]] = {
    APART_HANDED: Words("one kernel writes to memory what the next one reads back"),
    APART_READ: Words("two kernels read the same values from memory"),
    COPY: Words(
        "values are only moved to another place or order in memory",
        "compute in the layout that the next step needs: no transpose before a reshape, no .contiguous()",
    ),
    INPUT_COPY: Words(
        "values of an input are only moved to another order in memory, in each call",
        "make the input in that order where it is loaded, before the compiled function",
    ),
    JOINING: Words(
        "values are only moved to another place in memory, to join them",
        "write the parts into one tensor that is kept, as a cache of keys and values can be, or compute with each part:"
        " a layer of each, in place of one layer of all",
    ),
    JOINING_CALLS: Words(
        "values are only moved to another place in memory, to join them",
        "load or write the parts into one tensor that is kept; a call for each part moves more: it reads weights again,"
        " or makes results that are added",
    ),
    PADDING_BY_HAND: Words(
        "values are only moved to another place in memory, to join them",
        "a part is a constant: torch.nn.functional.pad in the place of the cat leaves the copy to what reads it",
    ),
    LIBRARY_COPY: Words(
        "values are only moved to another place or order in memory",
        "the code of a library does it: look for an option that leaves it out, as use_cache=False does in"
        " transformers where nothing is generated",
    ),
    PRODUCT_COPY: Words(
        "values are only moved to another order in memory, for a batched matrix product or behind it",
        "of attention, torch.nn.functional.scaled_dot_product_attention reads and writes any order of four axes whose"
        " last one is contiguous, if one of its fused kernels can be used (on a CPU without dropout); leaving out a"
        " .contiguous() does not help",
    ),
    EINSUM_COPY: Words(
        "values are only moved to another order in memory, for a batched matrix product or behind it",
        "torch.einsum puts operands in order for it: make them with their batch axes first, as one torch.bmm with"
        " a weight for each head does; a transpose before it, or an einsum of three operands as two, does not help",
    ),
    LAYOUT: Words(
        "values are copied into the memory layout that a library call wants",
        "make them in that layout: without a transpose or a slice before the call",
    ),
    LIBRARY_LAYOUT: Words(
        "values are copied into the memory layout that a library call wants",
        "the code of a library makes the call: look for an option that leaves its argument out, or another"
        " implementation of it",
    ),
    PADDED_LAYOUT: Words(
        "values are copied for a library call because torch has padded their rows, which the call wants dense",
        "there is no transpose or slice to leave out: where the rows have an aligned size in the program, nothing is"
        " padded",
    ),
    CONVOLUTION_LAYOUT: Words(
        "values are copied into channels-last memory for a convolution, in each call",
        "keep them there: model.to(memory_format=torch.channels_last), and the same for its input",
    ),
    CONVOLUTION_LAST: Words(
        "values are copied into channels-last memory for a convolution, in each call",
        "the model is channels-last already, what comes before is not: make that so, too",
    ),
    CONVOLUTION_JOINED: Words(
        "what a cat joins is copied into channels-last memory for a convolution, in each call",
        "apply torch.nn.functional.conv2d to each part with its part of the weight, and add the results, in a model"
        " that is channels-last: that alone leaves this copy, as an earlier cat has joined one of the parts",
    ),
    PADDING: Words(
        "a matrix product works on copies of its inputs, padded to sizes that the device is faster with",
        "give these dimensions such a size in the program, so that nothing is copied: a multiple of 8"
        " (of 4 in float32)",
    ),
    BREAK: Words(
        "the compiled code is interrupted here: Python runs this line, and the rest is compiled separately",
        "move the line out of the compiled function, or leave out what it is in: torch.compiler.disable",
    ),
    BREAK_MASK: Words(
        "the compiled code is interrupted here: Python runs this line, and the rest is compiled separately",
        "where what the mask picks is written back or summed up, torch.where with the mask, whose sum is how many there"
        " are: that needs no size which depends on values, and moves less",
    ),
    BREAK_NUMBER: Words(
        "the compiled code is interrupted here: Python runs this line, and the rest is compiled separately",
        "in the place of a slice by this number, with which torch may fail to compile, torch.arange: added to the"
        " tensor as an index, or compared with it as a mask",
    ),
    BREAK_LIBRARY: Words(
        "the compiled code is interrupted here: Python runs this line, and the rest is compiled separately",
        "the line is in the code of {library}, which is not yours to change; {call} leads to it: make that call outside"
        " of the compiled function, or compile by itself what it calls",
    ),
    BREAK_DDP: Words(
        "the compiled code is interrupted here: Python runs this line, and the rest is compiled separately",
        "DistributedDataParallel, called at {call}, interrupts the graph with code of torch's own: compile the module"
        " before it is wrapped, DistributedDataParallel(torch.compile(module))",
    ),
    LIBRARY: Words(
        "a library does it",
        "the code of {library} does it, which is not yours to change; {call} leads to it: look for an option of that"
        " call that leaves it out, as use_cache=False does in transformers where nothing is generated, or for another"
        " implementation",
    ),
    BREAK_BUILTIN: Words(
        "the compiled code is interrupted here: Python runs this line, and the rest is compiled separately",
        "Dynamo does not see into a function that is written in C: call it outside of the compiled function, and pass"
        " what it gives as a tensor; wrap one that computes with tensors by torch.library.custom_op",
    ),
    RECOMPILE: Words(
        "the function is compiled again",
        "mark the dimension as dynamic before the first call: torch._dynamo.mark_dynamic({tensor}, {dimension})",
    ),
    RECOMPILE_STATIC: Words(
        "the function is compiled again",
        "dynamic=False, or torch._dynamo.config.automatic_dynamic_shapes = False, gives each value a compile of its"
        " own: without it torch makes a value symbolic once it has changed",
    ),
    RECOMPILE_NUMBER: Words(
        "the function is compiled again",
        "Dynamo treats a Python number as a constant until it changes once: compile with dynamic=True, or pass "
        "{name} as a tensor",
    ),
    RECOMPILE_CONSTANT: Words(
        "the function is compiled again",
        "{line} needs {name} as a Python number, so each value has a compile of its own, with dynamic=True, too: if it"
        " only indexes tensors, pass it as a tensor of one element; else pass few different values, or compile only"
        " what does not depend on it",
    ),
    RECOMPILE_INDEX: Words(
        "the function is compiled again",
        "torch reads a tensor without dimensions on the CPU as a number where it is an index: pass one with one"
        " element, {name}.reshape(1)",
    ),
    RECOMPILE_MODULE: Words(
        "the function is compiled again",
        "Dynamo treats an int attribute of a module as a constant, with dynamic=True, too: keep {name} in a tensor"
        " that is changed in place, or set torch._dynamo.config.allow_unspec_int_on_nn_module = True",
    ),
    RECOMPILE_GLOBAL: Words(
        "the function is compiled again",
        "a Python number outside of the compiled function is a constant of each compile: keep it in a tensor that "
        "is changed in place, or pass it as a tensor",
    ),
    RECOMPILE_CONDITION: Words(
        "the function is compiled again",
        "the value is symbolic already, but the compile rests on this condition on it: the program, or torch where"
        " it asks for a layout, branches by it; keep it true, or leave the branch out",
    ),
    RECOMPILE_FIXED: Words(
        "the function is compiled again",
        "{line} needs a size that changes as a number, as a loop over it does; marking it as dynamic raises an "
        "error: pad to one of few sizes, or compile only what is inside the loop",
    ),
    RECOMPILE_ONE: Words(
        "the function is compiled again",
        "sizes 0 and 1 are always specialized, also where they are marked as dynamic: use larger ones only, or "
        "keep one size, such as that of a tensor that is written in place",
    ),
    RECOMPILE_STRIDE: Words(
        "the function is compiled again",
        "pass {tensor} with the same memory layout in each call: {tensor}.contiguous() before the call",
    ),
    RECOMPILE_GRADIENT: Words(
        "the function is compiled again",
        "a tensor needs a gradient in one call and none in another: fix the graph break in what calls the "
        "function, if there is one, or give it the same in each call",
    ),
    RECOMPILE_CONVERT: Words(
        "the function is compiled again",
        "the {what} differs from call to call, and each has a compile of its own: convert {tensor} before the call",
    ),
    RECOMPILE_TYPE: Words(
        "the function is compiled again",
        "{name} has another type: pass it as a tensor in each call, or as one type",
    ),
    RECOMPILE_VALUE: Words(
        "the function is compiled again",
        "{name} is a constant of each compile: compute what depends on it before the call, and pass the result, as"
        " a tensor or a bool",
    ),
    RECOMPILE_BOOL: Words(
        "the function is compiled again",
        "True and False have a compile each, and there are no more; with a tensor and torch.where in the place of "
        "{name} there is one",
    ),
    RECOMPILE_NONE: Words(
        "the function is compiled again",
        "{name} is None in one call and not in another, and each has a compile of its own: pass a tensor in each "
        "call to have one",
    ),
    RECOMPILE_KEYS: Words(
        "the function is compiled again",
        "the dict has other keys: use the same keys in the same order in each call, or pass its values as arguments",
    ),
    RECOMPILE_LENGTH: Words(
        "the function is compiled again",
        "a list, dict or set has another length in each call: read and change it outside of the compiled function,"
        " or keep what it holds in one tensor of a fixed size",
    ),
    RECOMPILE_INSTANCE: Words(
        "the function is compiled again",
        "{name} differs from one {holder} to the next, and all instances share the compiles of one function: "
        "compile one function outside of the class, and pass it what depends on {name}, as a tensor or a bool",
    ),
    RECOMPILE_IDENTITY: Words(
        "the function is compiled again",
        "{name} is another object in each of these calls: make it once, outside of the calls, or pass what it "
        "holds as tensors",
    ),
    RECOMPILE_FUNCTION: Words(
        "the function is compiled again",
        "{name} is another function, whose code needs a compile of its own: call it outside of the compiled "
        "function; if there must be more than 8, raise torch._dynamo.config.recompile_limit",
    ),
    RECOMPILE_MODE: Words(
        "the function is compiled again",
        "torch's {what} is part of each compile: set it to the same value for each call",
    ),
    RECOMPILE_TRAINING: Words(
        "the function is compiled again",
        "train() and eval() have a compile each, and there are no more",
    ),
    RECOMPILE_ALIAS: Words(
        "the function is compiled again",
        "two arguments are one tensor in one call and two in another: pass a clone() of one",
    ),
    RECOMPILE_BACKEND: Words(
        "the function is compiled again",
        "each torch.compile with a new backend function compiles again: make the backend once, or call "
        "torch.compile once and keep what it returns",
    ),
    RECOMPILE_STATE: Words(
        "the function is compiled again",
        "the first step makes the optimizer's state, so the second one is compiled again, and no later one: run "
        "the first step without torch.compile",
    ),
    RECOMPILE_UNKNOWN: Words(
        "the function is compiled again",
        "keep this true from call to call",
    ),
    RECOMPILE_REST: Words(
        "the function is compiled again",
        "fix the graph break at {line}: what it computes then never leaves the graph",
    ),
    RECOMPILE_AFTER: Words(
        "the function is compiled again",
        "fix the graph break at {line}; the resume function then disappears; then {own}",
    ),
    RECOMPILE_LIMIT: Words(
        "torch gave up compiling the function: calls that fit none of its compiles run without torch.compile",
        "TORCH_LOGS=recompiles prints what changes from call to call",
    ),
    CACHE: Words("each start of the program compiles this again: torch cannot keep it in its cache"),
    CACHE_MISS: Words(
        "torch's cache of compiled graphs had no entry for this one",
        "if this was not the first start, keep the cache between starts: TORCHINDUCTOR_CACHE_DIR, or"
        " torch.compiler.save_cache_artifacts",
    ),
    FOREACH: Words(
        "the operator runs as a call of its own: torch.compile generates no code for it",
        "it takes a list of tensors, which what you call does by itself: pass foreach=False there",
    ),
    FALLBACK: Words(
        "the operator runs as a call of its own: torch.compile generates no code for it",
        "where it is an operator of yours, write it with torch's operators, or give it a decomposition",
    ),
    COMPLEX: Words(
        "the operator runs as a call of its own: torch.compile generates no code for it",
        "compute with real and imaginary parts, which torch.view_as_real gives: there is generated code for these",
    ),
    SPILL: Words(
        "a kernel needs more registers than there are, and keeps values in slow memory",
        "split the computation, or let the sizes of its blocks be chosen by measuring: mode='max-autotune'",
    ),
    NO_CUDAGRAPH: Words(
        "it does not run as a CUDA graph: the host launches each kernel again in each call",
    ),
    CUDAGRAPH_AGAIN: Words("its CUDA graph was recorded again", "keep inputs that must not move in the same memory"),
    MEMORY: Words("memory that is kept for reuse raises the peak"),
    NUMERICS: Words("a result is not what the program computes without torch.compile"),
    FAILED: Words("a compile failed"),
    FAILED_CALL: Words("compiled code raised an error when it was called, and the program ended"),
    TUNED: Words("a change of the program makes its steps faster: it was tried"),
    INCOMPLETE: Words("a graph is not complete in this dump"),
    PROBE: Words("a probe of this tool saw nothing, so that something is missing in this dump"),
    LAUNCH_BOUND: Words(
        "the GPU waits for the host, which launches the kernels of compiled graphs one by one",
        'record CUDA graphs: torch.compile(…, mode="reduce-overhead"); or compile more in one graph, such as several '
        "steps of a loop",
    ),
    LAUNCH_BOUND_SKIPPED: Words(
        "the GPU waits for the host, which launches the kernels of compiled graphs one by one",
        "the program asks for CUDA graphs, and this keeps them from being used: {why}",
    ),
    LAUNCH_BOUND_HOST: Words(
        "entering compiled code, its guards and its wrapper take longer than a small graph is worth",
        "compile more in one graph, such as several steps of a loop; or do not compile this function",
    ),
    SECOND_STAGES: Words(
        "reductions over much are split, and the second stage of each is a small kernel of its own",
    ),
    LAYOUT_CHANGES: Words(
        "the library turns what a convolution reads and writes into channels-last memory and back, in each call",
        "model.to(memory_format=torch.channels_last), and the same for its input: measure it, for what surrounds the"
        " convolutions can become slower by it",
    ),
    HALF_PRECISION: Words(
        "matrix products and convolutions compute in float32",
        "torch.autocast(device_type, torch.bfloat16) around the forward pass and the loss: it changes the numbers, so"
        " compare the results",
    ),
    DOUBLE_PRECISION: Words(
        "kernels compute in float64, which moves twice the bytes of float32",
        "convert the inputs once, x.float(), where float32 is precise enough: arrays of NumPy are float64 unless they"
        " say otherwise; it changes the numbers, so compare the results",
    ),
    MATMUL_PRECISION: Words(
        "float32 matrix products run without tensor cores",
        'torch.set_float32_matmul_precision("high") rounds their inputs to TF32: it changes the numbers, so compare '
        "the results",
    ),
    OPTIMIZER: Words(
        "the optimizer runs as many operators on lists of tensors, or on each tensor",
        "{name}(…, fused=True) updates all parameters in one kernel",
    ),
    SYNCHRONISATION: Words(
        "the host waits for a result of the GPU in each step, and the GPU then waits for the host",
        "keep the value on the GPU: read it every so many steps, or branch with torch.where",
    ),
    SYNCHRONISATION_ASKED: Words(
        "the program waits in each step until the GPU has done its work, and the GPU then waits for the program",
        "leave the synchronize() out, or call it every so many steps: only measuring time needs it",
    ),
    INPUT: Words(
        "the program waits for its DataLoader",
        "more workers (num_workers=…), persistent_workers=True, and pin_memory=True for a GPU",
    ),
    TRANSFER: Words(
        "the GPU waits for data that is copied to it from memory that is not pinned",
        "DataLoader(…, pin_memory=True), or tensor.pin_memory() once, and then .to(device, non_blocking=True)",
    ),
    TRANSFER_PINNED: Words(
        "the GPU waits for data that is copied to it",
        "copy the next batch on a stream of its own while the GPU computes this one; or send fewer bytes, such as uint8"
        " in place of float32",
    ),
    TRANSFER_BACK: Words(
        "the GPU waits while its results are copied to the host",
        "keep them on the GPU; or copy them less often, into pinned memory with non_blocking=True",
    ),
    EAGER: Words(
        "operators run one by one outside of compiled code",
        "move these lines into the compiled function, or put them into a function of their own and compile it",
    ),
    EAGER_TENSORS: Words(
        "a loop runs the same operators on one tensor after another, outside of compiled code",
        "use one call for all tensors, such as torch._foreach_mul_(tensors, factor); or compile a function that has the"
        " loop",
    ),
    EAGER_BREAK: Words(
        "operators run one by one between the parts of a function that is cut by a graph break",
        "fix the graph break: they then are in a graph",
    ),
    UNROLLED: Words(
        "compiling takes longer with each round of a Python loop, which is traced again for each",
        "compile a function of one round, and call it in the loop: it is compiled once, but each call then takes the"
        " time of its guards and launches, and nothing is fused across rounds; or a loop that is traced once,"
        " torch._higher_order_ops.scan",
    ),
    LAYERS: Words(
        "compiling takes longer with each layer, though all are the same function",
        "compile the layers in place of the model, `for layer in layers: layer.compile()`: one compile serves all whose"
        " inputs and Python numbers are alike; each call then takes the time of its guards, and nothing is fused"
        " across layers",
    ),
    AUTOTUNING: Words(
        "autotuning, which builds and times several versions of each kernel, takes a large part of compiling",
        "keep TORCHINDUCTOR_CACHE_DIR between starts, which has the results; or tune fewer versions, such as"
        ' torch._inductor.config.max_autotune_gemm_backends = "TRITON"',
    ),
    OWN_PASS: Words(
        "a graph pass of the program takes a large part of compiling",
        "look only at the nodes that it is for, graph.find_nodes(op=…, target=…), and not at all nodes for each",
    ),
    DDP_CUTS: Words(
        "the graph is cut where a bucket of DistributedDataParallel ends, and values pass through memory there",
        "a larger bucket_cap_mb cuts less often; torch._dynamo.config.optimize_ddp = False cuts nowhere, but then no"
        " gradient is sent before the whole backward is done: time both",
    ),
    MUTATION: Words(
        "an input that is written into at a few places is copied as a whole, in each call",
        "write each slice by an index: x[torch.arange(begin, end, device=x.device)] = values, in the place of"
        " x[begin:end] = values; torch writes any number of these in place",
    ),
    ATTENTION: Words(
        "scaled_dot_product_attention runs as matrix products and a softmax: no fused kernel takes this call",
    ),
    ATTENTION_BY_HAND: Words(
        "attention that is written by hand runs as matrix products and a softmax, and its scores pass through memory",
        "torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=…, scale=…) computes it in one"
        " kernel, each with the axes batch, heads, rows, size of a head",
    ),
    SLOW_PROBES: Words("this tool itself took a noticeable part of the run"),
}


class Kind(NamedTuple):
    """One kind of finding, as a list of all kinds has it."""

    kind: str
    what: str
    shown_by: str
    """The table of `show` that has more; or `kernel`, `node` or `why` of what the finding names."""
    needs: str = ""
    """What a run needs to have it: `gpu`, `cudagraphs`, `numerics`, `cache`, `steps` or `tune`; empty for a compile."""


KINDS: Final = (
    Kind(
        FAILED, "a compile, or a call of what was compiled, failed: the stage, the node and the error itself", "kernel"
    ),
    Kind(NUMERICS, "a result is wrong, or not the same each time", "numerics", "numerics"),
    Kind(TUNED, "a change that was tried makes the program's steps faster", "tried", "tune"),
    Kind(BREAK, "a graph break: Python runs a part of the function", "dynamo"),
    Kind(RECOMPILE, "a function is compiled again", "dynamo"),
    Kind(RECOMPILE_LIMIT, "a function was compiled too often: later calls run without torch.compile", "dynamo"),
    Kind(CACHE, "torch cannot keep a compile in its cache", "dynamo"),
    Kind(CACHE_MISS, "torch's cache of compiled graphs had no entry", "dynamo", "cache"),
    Kind(MISSED_FUSION, "two kernels go over the same values, and could be one", "why"),
    Kind(SECOND_STAGES, "the second stages of split reductions are small kernels of their own", "schedule", "gpu"),
    Kind(COPY, "values are only moved to another place or order in memory", "kernel"),
    Kind(LAYOUT, "values are copied into the memory layout that a library call wants", "kernel"),
    Kind(LAYOUT_CHANGES, "a library turns what a convolution reads and writes into another layout", "steps", "steps"),
    Kind(PADDING, "a matrix product works on padded copies of its inputs", "kernel", "gpu"),
    Kind(UNROLLED, "compiling takes long: rounds of a loop, layers, autotuning, or a pass of the program", "time"),
    Kind(DDP_CUTS, "a graph is cut where a bucket of DistributedDataParallel ends", "kernel"),
    Kind(MUTATION, "an input that is written into at a few places is copied as a whole", "kernel"),
    Kind(ATTENTION, "attention runs as matrix products and a softmax in place of one fused kernel", "kernel"),
    Kind(FALLBACK, "an operator runs as a call of its own: torch.compile generates no code for it", "node"),
    Kind(SPILL, "a Triton kernel needs more registers than there are", "kernel", "gpu"),
    Kind(
        NO_CUDAGRAPH,
        "a graph does not run as a CUDA graph where the program asked for that",
        "cudagraphs",
        "cudagraphs",
    ),
    Kind(CUDAGRAPH_AGAIN, "a CUDA graph is recorded again", "cudagraphs", "cudagraphs"),
    Kind(MEMORY, "memory that is kept for reuse raises the peak", "memory"),
    Kind(LAUNCH_BOUND, "the GPU waits for the host, which launches kernels one by one", "steps", "steps"),
    Kind(SYNCHRONISATION, "the host waits for a result of the GPU in each step", "steps", "steps"),
    Kind(OPTIMIZER, "the optimizer runs as many operators in place of one fused kernel", "steps", "steps"),
    Kind(INPUT, "the program waits for its DataLoader", "steps", "steps"),
    Kind(TRANSFER, "the GPU waits for a copy from or to the host", "steps", "steps"),
    Kind(EAGER, "operators run one by one outside of compiled code", "steps", "steps"),
    Kind(DOUBLE_PRECISION, "kernels compute in float64", "roofline", "gpu"),
    Kind(MATMUL_PRECISION, "float32 matrix products run without the tensor cores of the GPU", "roofline", "gpu"),
    Kind(HALF_PRECISION, "matrix products compute in float32 on a GPU that is faster in bfloat16", "roofline", "gpu"),
    Kind(INCOMPLETE, "a graph is not complete in this dump", "lowering"),
    Kind(PROBE, "a probe of this tool saw nothing, so that something is missing in this dump", "overhead"),
    Kind(SLOW_PROBES, "this tool itself took a noticeable part of the run", "overhead"),
)
"""Every kind of finding."""
KIND_OF: Final = {kind.kind: kind for kind in KINDS}

BY_BYTES: Final = "its bytes at the device's full bandwidth"
_BY_ROOFLINE: Final = "the least time by the roofline, without and with it"
ESTIMATES: Final = {
    UNROLLED: "its part of what was traced, of the time of the compile",
    SECOND_STAGES: "the time of an empty kernel for each",
    MATMUL_PRECISION: _BY_ROOFLINE,
    HALF_PRECISION: _BY_ROOFLINE,
    DOUBLE_PRECISION: _BY_ROOFLINE,
}
"""Kind → how its time is estimated, where that is not `BY_BYTES`."""

TYPICAL_BANDWIDTH: Final = 20e9
"""Bytes per second, to sort by where the device's own figure is not known; nothing that is shown comes from it."""
