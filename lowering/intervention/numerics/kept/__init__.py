"""Inputs of wrong launches, and of the calls around them, kept as files of the dump.

May not know how a result is judged, nor what is made of the files.
"""
