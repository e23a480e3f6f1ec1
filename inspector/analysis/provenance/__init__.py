"""The chain of ids from the user's line to the launch, walked both ways, and whether it has gaps.

May not know what a kernel costs or why it was fused.
"""
