"""What stands on the right: one view a level of the chain, and the program's own terminal."""
