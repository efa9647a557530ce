# Everything that leaves memtop as a file or text.
noinst_LIBRARIES += src/report/libreport.a
src_report_libreport_a_SOURCES = \
	src/report/ranges.c src/report/ranges.h \
	src/report/textwidth.c src/report/textwidth.h \
	src/report/units.c src/report/units.h
