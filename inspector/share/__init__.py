"""A dump as one file to give to others; secrets and source lines are taken out on request. Needs no torch."""
