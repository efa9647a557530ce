# Every file that is read back, its reader and writer together.
noinst_LIBRARIES += src/files/libfiles.a
src_files_libfiles_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS)
src_files_libfiles_a_SOURCES = \
	src/files/archive-lines.c src/files/archive-lines.h \
	src/files/archive-read.c \
	src/files/archive-sites-read.c \
	src/files/archive-sites-write.c \
	src/files/archive-sites.h \
	src/files/archive-write.c \
	src/files/archive.h \
	src/files/as-log.c src/files/as-log.h \
	src/files/dat-session.c \
	src/files/dat.c src/files/dat.h \
	src/files/eventblock.c src/files/eventblock.h \
	src/files/fields-take.c \
	src/files/fields.c src/files/fields.h \
	src/files/input.c src/files/input.h \
	src/files/kind.c src/files/kind.h \
	src/files/ledger.c src/files/ledger.h \
	src/files/logalloc.c src/files/logalloc.h \
	src/files/native-format.h \
	src/files/native-read.c \
	src/files/native-write.c \
	src/files/native.h \
	src/files/open.c src/files/open.h \
	src/files/outfile.c src/files/outfile.h \
	src/files/pack.c src/files/pack.h \
	src/files/trace-csv.c \
	src/files/trace-form.h \
	src/files/trace-session.c \
	src/files/trace-text.c \
	src/files/trace.c src/files/trace.h \
	src/files/varint.h
