"""The terminal app for a dump.

May not know torch.
"""
