"""Public reports of people, what is true of each with the torch that is installed, and what a person must learn.

The programs are written anew from what the reports describe, and named by tracker and number. The truth was found by
running each function as it is and compiled (`witness.py`), and by reading what the maintainers said.
"""

from typing import Final, NamedTuple

from inspect_compile.knowledge.numerics.levels import AOT, DYNAMO, LOWERING, PARTITIONER
from tests.reports.witness import DTYPE, ERROR, FINITE, GRADIENT, INPUT, RESULT, SHARING

KERNEL: Final = "a kernel"
NOOP: Final = "remove_noop_ops"
FOLD: Final = "constant_fold_uniform_value"
PATTERN: Final = "pattern_matcher"
REINPLACE: Final = "reinplace_inplaceable_ops"
MUTABLE: Final = "decompose_auto_functionalized"
RELEASE: Final = "2.13"
"""The release that the truths are of."""

WRONG_RESULTS: Final = "wrong results"
FAILING: Final = "failing"
RECOMPILES: Final = "recompiles"
BREAKS: Final = "graph breaks"
FUSION: Final = "missed fusion"
MEMORY: Final = "memory and copies"
OVERHEAD: Final = "overhead"
KINDS: Final = (WRONG_RESULTS, FAILING, RECOMPILES, BREAKS, FUSION, MEMORY, OVERHEAD)


class Report(NamedTuple):
    """One report, and its program."""

    tracker: str
    number: int
    words: str
    kind: str = WRONG_RESULTS
    differs: tuple[str, ...] = ()
    """What is not as in eager, sorted: the words of `witness.py`."""
    levels: tuple[str, ...] = ()
    """What makes the first wrong result: one of these levels, passes or `KERNEL`. Empty if nothing is wrong.

    Several where the levels are not told apart: a pass makes it possible, and the next does it.
    """
    names: str = ""
    """A part of the name of the node or of the kernel that is blamed."""
    line: str = ""
    """The line that is blamed, without what it is indented by; for a kernel only."""
    options: tuple[str, ...] = ()
    """Of `numerics`; of what does not compute wrong results, of `run`."""
    status: tuple[int, ...] = ()
    """Its exit status, if another one than 1 for what is wrong and 0 for what is right will do."""
    table: str = "findings"
    """Where it is to be seen what a person asks, of the tables of `show`."""
    learns: tuple[str, ...] = ()
    """Texts that one row of that table has, as JSON."""

    @property
    def program(self) -> str:
        """The name of the program, without `.py`."""
        return f"{self.tracker}_{self.number}_{self.words}"

    @property
    def is_wrong(self) -> bool:
        """The compiled function does something else than the program says."""
        return bool(self.levels)

    @property
    def statuses(self) -> tuple[int, ...]:
        """The right exit status of `numerics`, or each of them."""
        return self.status or ((1,) if self.is_wrong else (0,))


NOT_COMPARED: Final = 3
EAGER: Final = ("--eager",)
GPU: Final = ("--target", "sm_90")
"""A CPU has no CUDA graphs."""
TWO_CALLS: Final = ("--calls", "1-2")

WRONG: Final = (
    Report("pytorch", 198270, "index_put_flip", differs=(INPUT, RESULT), levels=(KERNEL,), line="h.add_(h.flip(0))"),
    Report("pytorch", 198094, "scatter_then_fill", differs=(RESULT, SHARING), levels=(REINPLACE,)),
    Report("pytorch", 198031, "custom_op_loses_clone", differs=(INPUT, RESULT), levels=(NOOP, REINPLACE, MUTABLE)),
    Report("pytorch", 198131, "copy_after_change", differs=(INPUT,), levels=(NOOP,)),
    Report("pytorch", 197829, "rows_shift_down", differs=(INPUT, RESULT), levels=(NOOP, REINPLACE)),
    Report("pytorch", 195451, "returned_alias", differs=(SHARING,), levels=(REINPLACE,)),
    Report("pytorch", 115774, "buffer_replaced", differs=(SHARING,), levels=(REINPLACE,)),
    Report("pytorch", 197489, "offset_seen_by_an_op", differs=(RESULT,), levels=(NOOP,)),
    Report("pytorch", 198033, "foreach_add_flipped", differs=(INPUT, RESULT), levels=(KERNEL, LOWERING)),
    Report("pytorch", 183986, "rows_added_to_one_row", differs=(RESULT,), levels=(REINPLACE,)),
    Report("pytorch", 189518, "running_sum_of_ones", differs=(DTYPE,), levels=(PATTERN,)),
    Report("pytorch", 195320, "permuted_key_attention", differs=(RESULT,), levels=(PATTERN,)),
    Report("pytorch", 189799, "negative_zero_plus_zero", differs=(FINITE,), levels=(FOLD,)),
    Report("pytorch", 195422, "dropout_identity_changed", differs=(INPUT,), levels=(AOT,), options=EAGER),
    Report("pytorch", 191821, "region_reads_a_global", differs=(RESULT,), levels=(DYNAMO,), options=EAGER),
    Report("pytorch", 139789, "aliased_inputs_later", differs=(RESULT,), levels=(AOT,), options=(*EAGER, *TWO_CALLS)),
    Report("pytorch", 193279, "own_backward_dropped", differs=(RESULT,), levels=(DYNAMO,), options=EAGER),
    Report("pytorch", 153044, "autocast_outside", differs=(GRADIENT,), levels=(AOT,)),
    Report("pytorch", 191308, "int8_matmul_dtype", differs=(DTYPE,), levels=(KERNEL, LOWERING)),
    Report("pytorch", 190717, "dropout_drawn_again", differs=(RESULT,), levels=(PARTITIONER,)),
    Report("pytorch", 195327, "loop_condition_changes_state", differs=(INPUT,), levels=(MUTABLE, LOWERING, KERNEL)),
    Report("pytorch", 197091, "ldexp_dtype", differs=(DTYPE,), levels=(KERNEL, LOWERING), names="ldexp"),
    Report(
        "pytorch",
        193492,
        "largest_pooled",
        differs=(RESULT,),
        levels=(KERNEL,),
        names="argmax",
        line="return F.adaptive_avg_pool1d(x, 2).argmax()",
    ),
    Report(
        "pytorch",
        193661,
        "largest_row_of_transposed",
        differs=(RESULT,),
        levels=(KERNEL,),
        names="argmax",
        line="return x.sum(-1).argmax()",
    ),
    Report(
        "pytorch",
        193751,
        "brightest_column",
        differs=(RESULT,),
        levels=(KERNEL,),
        names="argmax",
        line="return image.mean(-1).argmax()",
    ),
    Report(
        "pytorch",
        190765,
        "repeated_then_flipped",
        differs=(RESULT,),
        levels=(KERNEL,),
        names="rev",
        line="repeat_interleave(2).flip(0)",
    ),
    Report(
        "pytorch",
        175966,
        "arange_times_large",
        differs=(RESULT,),
        levels=(KERNEL,),
        names="mul",
        line="torch.arange(11, dtype=torch.int64)",
    ),
    Report(
        "pytorch",
        187018,
        "uint8_abs_neg",
        differs=(RESULT,),
        levels=(KERNEL,),
        names="sum",
        line="torch.cat([minus, minus]).sum()",
    ),
    Report(
        "pytorch",
        197895,
        "floor_division_of_floats",
        differs=(RESULT,),
        levels=(KERNEL,),
        names="div",
        line="value // width",
    ),
    Report(
        "pytorch",
        198057,
        "remainder_by_infinity",
        differs=(FINITE,),
        levels=(KERNEL,),
        names="remainder",
        line="torch.remainder(value, period)",
    ),
    Report("pytorch", 197089, "spread_of_huge_numbers", differs=(FINITE, RESULT), levels=(AOT, KERNEL)),
    Report(
        "pytorch",
        197108,
        "mean_of_nothing",
        differs=(FINITE,),
        levels=(KERNEL, LOWERING),
        names="var_mean",
        line="torch.var_mean(x)",
    ),
    Report(
        "pytorch", 183763, "sinh_near_overflow", differs=(FINITE,), levels=(KERNEL,), names="sinh", line="torch.sinh(x)"
    ),
    Report(
        "pytorch", 183765, "cosh_near_overflow", differs=(FINITE,), levels=(KERNEL,), names="cosh", line="torch.cosh(x)"
    ),
)
"""Wrong results, with the installed torch, on the CPU."""

RIGHT: Final = (
    # The mean of a normalised convolution is zero, and what both ways give is rounding.
    Report("pytorch", 141317, "pooled_conv_norm", differs=(RESULT,)),
    # Eager rounds to float16 before the floor is taken, the compiled code does not.
    Report("pytorch", 145466, "floor_of_cosine", differs=(RESULT,)),
    # Inductor draws other random numbers than eager, as documented.
    Report("pytorch", 158643, "dropout_of_its_own_draw", differs=(RESULT,), status=(0, NOT_COMPARED)),
    # In these two eager overflows in float16, and the compiled code is right.
    Report("pytorch", 183605, "half_variance_is_nan", differs=(FINITE,)),
    Report("pytorch", 183607, "half_square_overflows", differs=(FINITE,)),
    Report("pytorch", 185337, "cast_there_and_back"),
    Report("pytorch", 96064, "unrolled_loop"),
    Report("pytorch", 105264, "uint8_add_then_widen"),
    Report("pytorch", 109105, "int8_distributed"),
    Report("pytorch", 111133, "index_add_into_a_view"),
    Report("pytorch", 113015, "slices_summed_both_orders"),
    Report("pytorch", 118265, "shift_by_negative"),
    Report("pytorch", 118266, "argmax_of_nan"),
    Report("pytorch", 122379, "splits_joined_in_order"),
    Report("pytorch", 126848, "denormal_kept"),
    Report("pytorch", 131910, "negative_float_to_byte"),
    Report("pytorch", 136662, "grad_of_slice_update"),
    Report("pytorch", 143566, "shift_by_the_width"),
    Report("pytorch", 146213, "loop_that_never_runs"),
    Report("pytorch", 152425, "write_into_expanded"),
    Report("pytorch", 153389, "custom_op_on_two_views"),
    Report("pytorch", 154036, "jacrev_aux_under_vmap"),
    Report("pytorch", 159154, "softmax_by_einsum"),
    Report("pytorch", 160730, "expanded_branch"),
    Report("pytorch", 174049, "attention_scale_ignored"),
    Report("pytorch", 174073, "argmin_of_transposed_change"),
    Report("pytorch", 174891, "complex_broadcast_add"),
    Report("pytorch", 174963, "as_strided_after_roll"),
    Report("pytorch", 175855, "list_read_while_it_grows"),
    Report("pytorch", 178964, "max_of_transposed_sum"),
    Report("pytorch", 179804, "autocast_switched_off_inside"),
    Report("pytorch", 179931, "pool_flatten_sum"),
    Report("pytorch", 180164, "slice_replaced_and_summed"),
    Report("pytorch", 180642, "changed_in_a_function"),
    Report("pytorch", 182012, "diagonal_of_expanded"),
    Report("pytorch", 182343, "searchsorted_of_a_slice"),
    Report("pytorch", 183604, "function_given_one_twice"),
    Report("pytorch", 184893, "argmin_of_bool"),
    Report("pytorch", 185702, "slices_stacked"),
    Report("pytorch", 186799, "gradient_of_amin_ties"),
    Report("pytorch", 190764, "int32_products_added"),
    # Wrong with vectors of 512 bits only.
    Report("pytorch", 191499, "smallest_of_int8"),
    Report("pytorch", 191968, "modulus_in_a_tail"),
    Report("pytorch", 192905, "region_of_another_branch"),
    Report("pytorch", 193061, "modulated_norms"),
    Report("pytorch", 197893, "divided_by_one"),
    Report("pytorch", 197896, "captured_counter"),
    # What AOTInductor packages is compared, or it is said why not.
    Report("pytorch", 122553, "packaged_model", status=(0, NOT_COMPARED)),
)
"""Once wrong, or never, and right with the installed torch: to be called right."""

RECOMPILED: Final = '"fact":"recompile_row"'
BREAK: Final = '"kind":"graph-break"'
PUZZLING: Final = (
    Report("pytorch", 188225, "constant_to_nan", FAILING, (ERROR,), learns=("not comparable", "torch.softmax(")),
    Report("pytorch", 190417, "norm_of_log_of_zero", FAILING, (ERROR,), learns=("is NaN", "F.layer_norm(")),
    Report("pytorch", 191203, "attention_scale_tensor", FAILING, (ERROR,), learns=("'scale'", "F.softmax(")),
    Report("pytorch", 193263, "cumsum_of_a_scalar", FAILING, (ERROR,), learns=("index out of range", "cumsum(0)")),
    Report("pytorch", 196570, "mask_then_softmax", FAILING, (ERROR,), learns=("KeyError", "torch.softmax(x + mask")),
    Report("pytorch", 183369, "nested_norm", FAILING, (ERROR,), learns=("index out of range", "F.layer_norm(")),
    Report("pytorch", 97083, "broken_by_a_branch", FAILING, (ERROR,), learns=("expected size 2==1",)),
    Report("pytorch", 197094, "complex_sgd", FAILING, learns=("is not an OpOverload",)),
    Report("pytorch", 171593, "module_keys", RECOMPILES, learns=("limit", "eager")),
    Report("pytorch", 120934, "learning_rate", RECOMPILES, learns=("limit", "eager", "['lr']")),
    Report("pytorch", 149405, "float_argument", RECOMPILES, table="overview", learns=('"recompiles":0',)),
    Report("torchtune", 1663, "cache_position", RECOMPILES, table="dynamo", learns=(RECOMPILED, "self.size == 0")),
    Report("pytorch", 154707, "backend_changed", RECOMPILES, table="dynamo", learns=(RECOMPILED, "BACKEND_MATCH")),
    Report("pytorch", 141486, "mask_for_each_length", RECOMPILES, learns=("dynamic=False",)),
    Report("pytorch", 93457, "integers_from_a_tensor", BREAKS, learns=(BREAK, "width = int(box[2] - box[0])")),
    Report("pytorch", 158642, "item_breaks", BREAKS, learns=(BREAK, "if y.max().item() > most:")),
    Report("pytorch", 119186, "loop_over_numpy", BREAKS, table="dynamo", learns=('"status":"skipped"', "searched")),
    Report("pytorch", 195782, "attention_mask_first", FUSION, learns=("attention", "scores.softmax(-1) @ v")),
    Report("pytorch", 195285, "buffer_copied_each_call", MEMORY, learns=("field[1:-1] = field[1:-1] * 0.5 + 1.0",)),
    Report("pytorch", 184542, "scatter_through_a_view", MEMORY, table="overview", learns=('"allocated_bytes":0',)),
    Report("pytorch", 154652, "unrolled_cell", OVERHEAD, learns=("compil", "hidden = torch.tanh(x[at]")),
    Report("pytorch", 117281, "no_cuda_graph", OVERHEAD, options=GPU, learns=("mutated", "cache[:, 1] = y")),
)
"""What else people ask: one row of `show findings`, or of another table, says it. What fails is the first finding."""

REPORTS: Final = (*WRONG, *RIGHT, *PUZZLING)
