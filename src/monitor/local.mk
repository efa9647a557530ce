# What memtop knows of the watched program. No curses, no gd.
