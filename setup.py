"""What pyproject.toml cannot say; everything else stands there."""

from setuptools import Distribution, setup


class WithDataFiles(Distribution):
    """An editable install has the data files, too: our `.pth` file, which lets INSPECT_COMPILE=1 record a program."""

    has_data = Distribution.has_data_files
    """setuptools asks for it by this name before it installs them, and has it under another one."""


setup(distclass=WithDataFiles)
