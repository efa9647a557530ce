# What the system says and does: processes, files, /proc, terminals.
noinst_LIBRARIES += src/system/libsystem.a
src_system_libsystem_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBELF_CFLAGS)
src_system_libsystem_a_SOURCES = \
	src/system/capture.c src/system/capture.h \
	src/system/debian.c src/system/debian.h \
	src/system/elffile.c src/system/elffile.h \
	src/system/launch.c src/system/launch.h \
	src/system/library.c src/system/library.h \
	src/system/lines.c src/system/lines.h \
	src/system/locate.c src/system/locate.h \
	src/system/not-loaded.c src/system/not-loaded.h \
	src/system/pidspace.c src/system/pidspace.h \
	src/system/preflight.c src/system/preflight.h \
	src/system/procfs.c src/system/procfs.h \
	src/system/signals.c src/system/signals.h \
	src/system/smaps.c src/system/smaps.h \
	src/system/spool.c src/system/spool.h
