"""What a person's words mean: a node, a buffer, an operation, a kernel, a line of the program.

May not know what is then shown of it.
"""
