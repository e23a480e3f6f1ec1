"""What the passes did to the FX graphs, and which of them made a node.

May not know what the nodes were lowered to.
"""
