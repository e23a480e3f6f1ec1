"""Index expressions as algebra: parsed, compared, and counted in elements that are reached.

May not know kernels, fusion or costs, which are told in its terms.
"""
