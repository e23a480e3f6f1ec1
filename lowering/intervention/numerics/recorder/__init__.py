"""A flag for each call of a compiled graph, read a step later, and the call that raised it, made again.

May not know how what makes NaN or Inf is found: a call is handed to `numerics.nonfinite` for that.
"""
