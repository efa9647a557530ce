# Options, the run without display, and the program memtop.
