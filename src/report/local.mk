# Everything that leaves memtop as a file or text.
# Programs that link it need $(JANSSON_LIBS) $(ZSTD_LIBS) too.
noinst_LIBRARIES += src/report/libreport.a
src_report_libreport_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS)
src_report_libreport_a_SOURCES = \
	src/report/archive-entry.c src/report/archive-read.c src/report/archive-write.c src/report/archive.h \
	src/report/archive-lines.h \
	src/report/bandlines.c src/report/bandlines.h \
	src/report/fields.c src/report/fields-put.c src/report/fields-take.c \
	src/report/fields.h \
	src/report/json.c src/report/json.h \
	src/report/line.c src/report/line.h \
	src/report/listing.c src/report/listing.h \
	src/report/metrics.c src/report/metrics.h \
	src/report/names.c src/report/names.h \
	src/report/pack.c src/report/pack.h \
	src/report/curve.c src/report/curve.h \
	src/report/plot.c src/report/plot-record.c src/report/plot.h \
	src/report/plot-layout.c src/report/plot-layout.h \
	src/report/png-load.c src/report/png.h \
	src/report/quantity.c src/report/quantity.h \
	src/report/ranges.c src/report/ranges.h \
	src/report/snapshot.c src/report/snapshot-session.c src/report/snapshot-text.c \
	src/report/snapshot.h \
	src/report/summary.c src/report/summary.h \
	src/report/textgraph.c src/report/textgraph.h \
	src/report/textwidth.c src/report/textwidth.h \
	src/report/units.c src/report/units.h

# The pictures: a module of its own, so that libgd is loaded only for them.
if HAVE_GD
module_PROGRAMS += memtop-png.so
memtop_png_so_CPPFLAGS = $(AM_CPPFLAGS) -fPIC
memtop_png_so_CFLAGS = $(AM_CFLAGS) $(GD_CFLAGS) -fvisibility=hidden
memtop_png_so_LDFLAGS = $(AM_LDFLAGS) -shared
memtop_png_so_LDADD = $(GD_LIBS) $(LIBINTL)
memtop_png_so_SOURCES = \
	src/report/plot-layout.c src/report/plot-layout.h \
	src/report/png.c src/report/png.h \
	src/report/ranges.c src/report/units.c
endif
