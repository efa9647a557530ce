# What memtop knows of the watched program.  No curses, no gd.
noinst_LIBRARIES += src/monitor/libmonitor.a
src_monitor_libmonitor_a_SOURCES = \
	src/monitor/bandreader.c src/monitor/bandreader.h \
	src/monitor/bands.c src/monitor/bands.h \
	src/monitor/blockmap.c src/monitor/blockmap.h \
	src/monitor/blocksizes.c src/monitor/blocksizes.h \
	src/monitor/census.c src/monitor/census.h \
	src/monitor/checkpoints.c src/monitor/checkpoints.h \
	src/monitor/children.c src/monitor/children.h \
	src/monitor/ending.c src/monitor/ending.h \
	src/monitor/history.c src/monitor/history.h \
	src/monitor/messages.c src/monitor/messages.h \
	src/monitor/meter.c src/monitor/meter.h \
	src/monitor/naming.c src/monitor/naming.h \
	src/monitor/observed.c src/monitor/observed.h \
	src/monitor/others.c src/monitor/others.h \
	src/monitor/process.c \
	src/monitor/profile-detail.c \
	src/monitor/profile-figures.c \
	src/monitor/profile-names.c \
	src/monitor/profile-private.h \
	src/monitor/profile-table-private.h \
	src/monitor/profile-table.c src/monitor/profile-table.h \
	src/monitor/profile.c src/monitor/profile.h \
	src/monitor/roster.c src/monitor/roster.h \
	src/monitor/samples.c src/monitor/samples.h \
	src/monitor/saved.c src/monitor/saved.h \
	src/monitor/source.h \
	src/monitor/send.c src/monitor/send.h \
	src/monitor/session.c src/monitor/session.h \
	src/monitor/stackreader.c src/monitor/stackreader.h \
	src/monitor/subject.c src/monitor/subject.h \
	src/monitor/tree.c src/monitor/tree.h \
	src/monitor/unseen.c src/monitor/unseen.h \
	src/monitor/usage.c src/monitor/usage.h \
	src/monitor/watch.c src/monitor/watch.h
