"""Reads what torch itself wrote of a compile, and makes the facts of a dump of it: text in, facts out.

Whatever it reads may come from anyone: nothing of it is run, imported or unpickled, and every size has a limit.
May not know torch, nor what is made of the facts.
"""
