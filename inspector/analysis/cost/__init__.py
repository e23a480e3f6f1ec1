"""What launches compute and move, in FLOPs and bytes, and the least time that takes on a device.

May not know why nodes were fused, nor profiles.
"""
