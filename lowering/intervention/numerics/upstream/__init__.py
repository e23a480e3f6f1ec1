"""Levels before the passes over a graph of AOTAutograd's: the program's function, Dynamo's graph, the joint graph.

May not know Inductor's IR, nor the generated code.
"""
