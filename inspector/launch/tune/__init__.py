"""What `tune` runs: a program with changes put in from outside, and the search for those that make its steps faster.

May not know torch: what a run saw comes from its process as a file.
"""
