"""What there is to say of a run without graphs, and which remarks an overview leaves out. May not know any compile."""
