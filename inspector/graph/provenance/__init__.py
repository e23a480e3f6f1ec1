"""The chain of ids from the user's line to the launch, and how the nodes of each graph were made from earlier ones.

May not know what a kernel costs or why it was fused.
"""
