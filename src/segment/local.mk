# The protocol, and its only reader.
noinst_LIBRARIES += src/segment/libsegment.a
src_segment_libsegment_a_SOURCES = \
	src/segment/control.c src/segment/control.h \
	src/segment/drain.c src/segment/drain.h \
	src/segment/functions.c src/segment/functions.h \
	src/segment/layout.h \
	src/segment/live.h \
	src/segment/logline.c src/segment/logline.h \
	src/segment/mapping.c src/segment/mapping.h \
	src/segment/names.c src/segment/names.h \
	src/segment/rate.c src/segment/rate.h \
	src/segment/reader-private.h \
	src/segment/reader-recorder.c \
	src/segment/reader-sites.c \
	src/segment/reader-text.c \
	src/segment/reader.c src/segment/reader.h \
	src/segment/sampling.h \
	src/segment/seqlock.h \
	src/segment/sites-layout.h \
	src/segment/sites.h
