# What every folder may use: text, arrays, numbers, clocks, translation.
noinst_LIBRARIES += src/base/libbase.a
src_base_libbase_a_SOURCES = \
	src/base/array.c src/base/array.h \
	src/base/clock.h \
	src/base/counts.c src/base/counts.h \
	src/base/figures.h \
	src/base/fresh.c src/base/fresh.h \
	src/base/i18n.h \
	src/base/intern.c src/base/intern.h \
	src/base/path.h \
	src/base/quantity.c src/base/quantity.h \
	src/base/textwidth.c src/base/textwidth.h \
	src/base/units.c src/base/units.h
