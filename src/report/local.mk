# Everything that leaves memtop as a file or text.
# Programs that link it need $(JANSSON_LIBS) too.
noinst_LIBRARIES += src/report/libreport.a
src_report_libreport_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
src_report_libreport_a_SOURCES = \
	src/report/json.c src/report/json.h \
	src/report/line.c src/report/line.h \
	src/report/ranges.c src/report/ranges.h \
	src/report/summary.c src/report/summary.h \
	src/report/textwidth.c src/report/textwidth.h \
	src/report/units.c src/report/units.h
