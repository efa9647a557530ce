# What memtop knows of the watched program. No curses, no gd.
noinst_LIBRARIES += src/monitor/libmonitor.a
src_monitor_libmonitor_a_SOURCES = \
	src/monitor/history.c src/monitor/history.h \
	src/monitor/procfs.c src/monitor/procfs.h
