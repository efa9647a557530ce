# Names for addresses of the program.
noinst_LIBRARIES += src/symbols/libsymbols.a
src_symbols_libsymbols_a_CFLAGS = $(AM_CFLAGS) $(LIBDW_CFLAGS) $(LIBELF_CFLAGS)
src_symbols_libsymbols_a_SOURCES = \
	src/symbols/demangle.c src/symbols/demangle.h \
	src/symbols/functions.c src/symbols/functions.h \
	src/symbols/generated.c \
	src/symbols/helper.c src/symbols/helper.h \
	src/symbols/images.c \
	src/symbols/perfmap.c src/symbols/perfmap.h \
	src/symbols/question.c src/symbols/question.h \
	src/symbols/spans.c src/symbols/spans.h \
	src/symbols/symbols.c src/symbols/symbols.h
if HAVE_LIBDW
src_symbols_libsymbols_a_SOURCES += src/symbols/dwarf.c
else
src_symbols_libsymbols_a_SOURCES += src/symbols/table.c
endif
