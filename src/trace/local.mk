# Recorded events. Beside report: no curses, no gd.
noinst_LIBRARIES += src/trace/libtrace.a
# Programs that link it need $(ZSTD_LIBS) too.
src_trace_libtrace_a_CFLAGS = $(AM_CFLAGS) $(ZSTD_CFLAGS)
src_trace_libtrace_a_SOURCES = \
	src/trace/allocator.c src/trace/allocator.h \
	src/trace/as-log.c src/trace/as-log.h \
	src/trace/dat.c src/trace/dat.h \
	src/trace/eventblock.c src/trace/eventblock.h src/trace/varint.h \
	src/trace/dat-session.c src/trace/dat-session.h \
	src/trace/follow.c src/trace/follow.h \
	src/trace/footprint.c src/trace/footprint.h \
	src/trace/input.c src/trace/input.h \
	src/trace/ledger.c src/trace/ledger.h \
	src/trace/logalloc.c src/trace/logalloc.h \
	src/trace/progress.h \
	src/trace/munge.c src/trace/munge.h \
	src/trace/native.h src/trace/native-format.h \
	src/trace/native-read.c src/trace/native-write.c \
	src/trace/outfile.c src/trace/outfile.h \
	src/trace/replay.c src/trace/replay.h \
	src/trace/record.c src/trace/record.h \
	src/trace/record-blocks.c src/trace/record-blocks.h \
	src/trace/record-dat.c src/trace/record-dat.h \
	src/trace/record-trace.c src/trace/record-trace.h \
	src/trace/squeeze.c src/trace/squeeze.h \
	src/trace/timeline.c src/trace/timeline.h \
	src/trace/trace-session.c src/trace/trace-session.h \
	src/trace/trace.c src/trace/trace.h src/trace/trace-form.h \
	src/trace/trace-csv.c src/trace/trace-text.c
