# Tests mirror the source; see tests/README.
