"""x"""
def install(program): pass
