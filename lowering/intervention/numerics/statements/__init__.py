"""The statement of a C++ kernel that makes a wrong element: the launch again, with its statements' values.

May not know how values are written out: that is `codegen.numerics`, which it gets by the code that it is handed.
"""
