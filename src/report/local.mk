# Everything that leaves memtop as a file or text.
