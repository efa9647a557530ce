# Allocation logs: numbered anew, and their calls made again.
noinst_LIBRARIES += src/replay/libreplay.a
src_replay_libreplay_a_SOURCES = \
	src/replay/allocator.c src/replay/allocator.h \
	src/replay/footprint.c src/replay/footprint.h \
	src/replay/munge.c src/replay/munge.h \
	src/replay/replay.c src/replay/replay.h
