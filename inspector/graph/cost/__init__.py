"""The bytes that launches read and write, by buffer.

May not know why nodes were fused, nor profiles.
"""
