"""What was seen when the program ran: profiles, measured launches, CUDA graphs and collectives, joined with the dump.

May not know fusion, nor other compiles.
"""
