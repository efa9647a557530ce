# Manual pages and the documents for those who work on it.
dist_man_MANS += doc/memtop.1 doc/memtopstat.1 doc/memtop-munge.1 \
	doc/memtop-replay.1 doc/libmemtop.7 \
	doc/memprof.3 doc/memprof_start.3 doc/memprof_stop.3 doc/memprof_discard.3 \
	doc/memprof_custom_alloc.3 doc/memprof_custom_free.3
# In other languages: man finds them by the locale.
ruman1dir = $(mandir)/ru/man1
dist_ruman1_DATA = doc/ru/memtop.1
# What users are told of, and what the manual pages speak of.
dist_doc_DATA = README.md NEWS doc/ALLOCATORS doc/PROTOCOL doc/SERVERS doc/SITES doc/SESSION doc/TRACE \
	doc/memtop-server.service doc/prometheus-rules.yml
EXTRA_DIST += doc/ARCHITECTURE doc/GLOSSARY doc/HACKING doc/memtop.png
