"""What a call leaves behind, compared at the levels below AOTAutograd: results, changed inputs, strides, shared memory.

May use what computes and judges values; it may not know of Dynamo's graph and the program's function, nor how launches
are forced.
"""
