"""Every private name of torch that is touched, as data. Imports nothing."""
