# What memtop knows of the watched program. No curses, no gd.
noinst_LIBRARIES += src/monitor/libmonitor.a
src_monitor_libmonitor_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBELF_CFLAGS)
src_monitor_libmonitor_a_SOURCES = \
	src/monitor/bandreader.c src/monitor/bandreader.h \
	src/monitor/bands.c src/monitor/bands.h \
	src/monitor/capture.c src/monitor/capture.h \
	src/monitor/census.c src/monitor/census.h \
	src/monitor/children.c src/monitor/children.h \
	src/monitor/checkpoints.c src/monitor/checkpoints.h \
	src/monitor/ending.c src/monitor/ending.h \
	src/monitor/history.c src/monitor/history.h \
	src/monitor/launch.c src/monitor/launch.h \
	src/monitor/library.c src/monitor/library.h \
	src/monitor/lines.c src/monitor/lines.h \
	src/monitor/locate.c src/monitor/locate.h \
	src/monitor/messages.c src/monitor/messages.h \
	src/monitor/meter.c src/monitor/meter.h \
	src/monitor/observed.c src/monitor/observed.h \
	src/monitor/process.c \
	src/monitor/procfs.c src/monitor/procfs.h \
	src/monitor/roster.c src/monitor/roster.h \
	src/monitor/saved.c src/monitor/saved.h \
	src/monitor/script.c src/monitor/script.h \
	src/monitor/session.c src/monitor/session.h \
	src/monitor/signals.c src/monitor/signals.h \
	src/monitor/smaps.c src/monitor/smaps.h \
	src/monitor/spool.c src/monitor/spool.h \
	src/monitor/stackreader.c src/monitor/stackreader.h \
	src/monitor/subject.c src/monitor/subject.h \
	src/monitor/tree.c src/monitor/tree.h \
	src/monitor/watch.c src/monitor/watch.h

# What a program will be like, from its file alone.
src_monitor_libmonitor_a_SOURCES += \
	src/monitor/elffile.c src/monitor/elffile.h \
	src/monitor/preflight.c src/monitor/preflight.h
