# Manual pages and the documents for those who work on memtop.
dist_man_MANS += doc/memtop.1 doc/memtopstat.1 doc/memtop-munge.1 \
	doc/memtop-replay.1 doc/libmemtop.7
dist_doc_DATA = README.md NEWS doc/memtop-server.service
EXTRA_DIST += doc/ALLOCATORS doc/ARCHITECTURE doc/HACKING doc/PROTOCOL doc/SESSION
EXTRA_DIST += doc/prometheus-rules.yml doc/SERVERS
