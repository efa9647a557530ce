# From the rings to files.
noinst_LIBRARIES += src/record/librecord.a
src_record_librecord_a_SOURCES = \
	src/record/record-blocks.c \
	src/record/record-dat.c \
	src/record/record-trace.c src/record/record-parts.h \
	src/record/record.c src/record/record.h
