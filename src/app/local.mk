# Options, the run without display, and the program memtop.
noinst_LIBRARIES += src/app/libapp.a
src_app_libapp_a_SOURCES = \
	src/app/batch.c src/app/batch.h \
	src/app/options.c src/app/options.h \
	src/app/output.c src/app/output.h \
	src/app/say.c src/app/say.h \
	src/app/start.c src/app/start.h
