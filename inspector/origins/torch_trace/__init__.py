"""TORCH_TRACE logs, torch's structured trace of a process, as tlparse reads them."""
