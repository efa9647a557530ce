# Manual pages and the documents for those who work on memtop.
