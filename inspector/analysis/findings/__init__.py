"""Everything that was missed, lost or odd in a dump, as one list: `KINDS` has a module for each kind of finding.

May use every other room of the analyses, and may not know any view; no other room knows that it exists.
"""
