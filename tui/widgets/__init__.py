"""The pieces that every view is made of.

May not know a dump: they are handed models.
"""
