"""FX graphs run node by node: in their dtypes, in fp64, and again with noise as rounding makes.

May not know of launches, kernels or buffers: what is compared with these values is found elsewhere.
"""
