"""Tables and pages of kernels: statements, compiled stages, configurations, autotuning, and the meaning of a name.

May not know what the analyses read: a table puts their rows into cells and words.
"""
