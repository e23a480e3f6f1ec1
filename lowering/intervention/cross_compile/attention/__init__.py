"""What torch would choose for attention on a GPU, decided on a CPU.

May not know how a graph is sent or compiled.
"""
