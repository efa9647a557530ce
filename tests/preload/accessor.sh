#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The library's reader of functions that return a thread-local variable.
programs=tests/preload/programs
LD_PRELOAD=$PWD/$programs/accessor.plugin $programs/accessor.run && echo "all passed"
