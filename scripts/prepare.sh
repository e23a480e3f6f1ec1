#!/bin/sh
# What pip cannot bring: a Python that can make environments and holds its headers (Inductor's C++ kernels include
# Python.h), a C++ compiler, and Graphviz's `dot`. Root on Debian gets what is missing; anyone else is told what to
# install. Only a missing `dot` lets the rest go on: without it nothing but the drawing of SVG is lost.
set -eu
python=$1

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    found=$("$python" -V 2>/dev/null) || found="not there"
    echo "inspect-compile needs Python 3.11 or newer; '$python' is $found. Say which to use: make PYTHON=python3.12 ..." >&2
    exit 1
fi
version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')

missing=""
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing $version-venv"
"$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    missing="$missing $version-dev"
command -v "${CXX:-g++}" >/dev/null || command -v clang++ >/dev/null || missing="$missing g++"
command -v dot >/dev/null || missing="$missing graphviz"
[ -n "$missing" ] || exit 0

if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "Installing$missing"
    # shellcheck disable=SC2086 # one word a package
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing && exit 0
    echo "apt-get could not install$missing." >&2
elif [ "$(uname)" = Darwin ]; then
    echo "Missing:$missing. Install: xcode-select --install; brew install python graphviz" >&2
else
    echo "Missing:$missing. Install: sudo apt-get install$missing (or what your system calls them)" >&2
fi
[ "$missing" = " graphviz" ] || exit 1
echo "Going on without 'dot': 'inspect-compile draw' writes its .dot files, but no SVG." >&2
