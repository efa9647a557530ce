# Recorded events. Beside report: no curses, no gd.
noinst_LIBRARIES += src/trace/libtrace.a
src_trace_libtrace_a_SOURCES = \
	src/trace/allocator.c src/trace/allocator.h \
	src/trace/dat.c src/trace/dat.h \
	src/trace/dat-session.c src/trace/dat-session.h \
	src/trace/footprint.c src/trace/footprint.h \
	src/trace/input.c src/trace/input.h \
	src/trace/logalloc.c src/trace/logalloc.h \
	src/trace/munge.c src/trace/munge.h \
	src/trace/replay.c src/trace/replay.h \
	src/trace/record.c src/trace/record.h
