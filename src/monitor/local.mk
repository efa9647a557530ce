# What memtop knows of the watched program. No curses, no gd.
noinst_LIBRARIES += src/monitor/libmonitor.a
src_monitor_libmonitor_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBELF_CFLAGS)
src_monitor_libmonitor_a_SOURCES = \
	src/monitor/bandreader.c src/monitor/bandreader.h \
	src/monitor/bands.c src/monitor/bands.h \
	src/monitor/blockmap.c src/monitor/blockmap.h \
	src/monitor/blocksizes.c src/monitor/blocksizes.h \
	src/monitor/blind.c src/monitor/blind.h \
	src/monitor/capture.c src/monitor/capture.h \
	src/monitor/census.c src/monitor/census.h \
	src/monitor/children.c src/monitor/children.h \
	src/monitor/checkpoints.c src/monitor/checkpoints.h \
	src/monitor/counts.c src/monitor/counts.h \
	src/monitor/ending.c src/monitor/ending.h \
	src/monitor/executed.c src/monitor/executed.h \
	src/monitor/unseen.c src/monitor/unseen.h src/monitor/usage.c src/monitor/usage.h \
	src/monitor/history.c src/monitor/history.h \
	src/monitor/launch.c src/monitor/launch.h \
	src/monitor/library.c src/monitor/library.h \
	src/monitor/lines.c src/monitor/lines.h \
	src/monitor/locate.c src/monitor/locate.h \
	src/monitor/messages.c src/monitor/messages.h \
	src/monitor/meter.c src/monitor/meter.h \
	src/monitor/observed.c src/monitor/observed.h \
	src/monitor/others.c src/monitor/others.h \
	src/monitor/pidspace.c src/monitor/pidspace.h \
	src/monitor/place.c src/monitor/place.h \
	src/monitor/process.c \
	src/monitor/profile.c src/monitor/profile.h src/monitor/profile-private.h \
	src/monitor/profile-names.c src/monitor/profile-figures.c \
	src/monitor/profile-table.c src/monitor/profile-table.h \
	src/monitor/profile-table-private.h src/monitor/profile-detail.c \
	src/monitor/procfs.c src/monitor/procfs.h \
	src/monitor/room.c src/monitor/room.h \
	src/monitor/roster.c src/monitor/roster.h \
	src/monitor/samples.c src/monitor/samples.h \
	src/monitor/saved.c src/monitor/saved.h \
	src/monitor/script.c src/monitor/script.h \
	src/monitor/script-sites.c src/monitor/script-sites.h \
	src/monitor/send.c src/monitor/send.h \
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
