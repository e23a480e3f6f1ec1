"""What was seen of earlier compiles, kept under the keys of torch's own cache.

torch takes a compiled graph from its cache without compiling it; what was recorded when it was stored is taken from
here then. Knows neither torch nor the probes; nothing that is read here is executed.
"""
