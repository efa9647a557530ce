# Everything that leaves memtop as text or picture.
noinst_LIBRARIES += src/report/libreport.a
src_report_libreport_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZLIB_CFLAGS)
src_report_libreport_a_SOURCES = \
	src/report/rss-lines.c src/report/rss-lines.h \
	src/report/blocklog.c src/report/blocklog.h \
	src/report/blockparams-file.c \
	src/report/blockparams.c src/report/blockparams.h \
	src/report/blockplot.c src/report/blockplot.h \
	src/report/blockreport-compat.c \
	src/report/blockreport-data.c \
	src/report/blockreport.c src/report/blockreport.h \
	src/report/facts.c src/report/facts.h \
	src/report/json.c src/report/json.h \
	src/report/line.c src/report/line.h \
	src/report/listing.c src/report/listing.h \
	src/report/metrics.c src/report/metrics.h \
	src/report/plot-layout.c src/report/plot-layout.h \
	src/report/plot.c src/report/plot.h \
	src/report/png-load.c \
	src/report/png.h \
	src/report/ranges.c src/report/ranges.h \
	src/report/site-filter.c src/report/site-filter.h \
	src/report/site-hint.c src/report/site-hint.h \
	src/report/site-report.c src/report/site-report.h \
	src/report/site-words.c src/report/site-words.h \
	src/report/siteexport-json.c \
	src/report/siteexport-massif.c \
	src/report/siteexport-pprof.c \
	src/report/siteexport-private.h \
	src/report/siteexport.c src/report/siteexport.h \
	src/report/snapshot-session.c \
	src/report/snapshot-text.c \
	src/report/snapshot.c src/report/snapshot.h \
	src/report/summary.c src/report/summary.h \
	src/report/textgraph.c src/report/textgraph.h

# The pictures: a module of its own, so that libgd is loaded only for them.
if HAVE_GD
module_PROGRAMS += memtop-png.so
memtop_png_so_CPPFLAGS = $(AM_CPPFLAGS) -fPIC
memtop_png_so_CFLAGS = $(AM_CFLAGS) $(GD_CFLAGS) $(FONTCONFIG_CFLAGS) -fvisibility=hidden
memtop_png_so_LDFLAGS = $(AM_LDFLAGS) -shared
memtop_png_so_LDADD = $(GD_LIBS) $(FONTCONFIG_LIBS) $(LIBINTL) -lm
memtop_png_so_SOURCES = \
	src/report/plot-layout.c src/report/plot-layout.h \
	src/report/png.c src/report/png.h src/report/png-steps.c \
	src/report/png-draw.c src/report/png-draw.h \
	src/report/ranges.c src/base/units.c
endif
