"""The form of generated kernels and the names of libraries' kernels. Data with sources; may not know any compile."""
