# Manual pages and the documents for those who work on memtop.
dist_man_MANS += doc/memtop.1 doc/libmemtop.7
