# Fuzz targets, one for each reader of what is not to be trusted.  As tests they
# read their corpora and variants of them (main.c); configured with --enable-fuzz
# CC=clang they are libFuzzer's: ./tests/fuzz/dat CORPUS
if ENABLE_FUZZ
fuzz_main =
fuzz_ldflags = -fsanitize=fuzzer
else
fuzz_main = tests/fuzz/main.c
fuzz_ldflags =
TESTS += $(fuzz_targets)
endif

fuzz_targets = tests/fuzz/dat tests/fuzz/drain tests/fuzz/elffile tests/fuzz/lines \
	tests/fuzz/logalloc tests/fuzz/names tests/fuzz/options tests/fuzz/procfs \
	tests/fuzz/reader tests/fuzz/session tests/fuzz/textwidth
check_PROGRAMS += $(fuzz_targets)
EXTRA_DIST += tests/fuzz/corpus

tests_fuzz_dat_SOURCES = tests/fuzz/dat.c tests/fuzz/fuzz.h $(fuzz_main)
tests_fuzz_dat_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_dat_LDADD = src/trace/libtrace.a $(LIBINTL)
tests_fuzz_drain_SOURCES = tests/fuzz/drain.c tests/fuzz/segment.h $(fuzz_main)
tests_fuzz_drain_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_drain_LDADD = src/segment/libsegment.a $(LIBINTL)
tests_fuzz_elffile_SOURCES = tests/fuzz/elffile.c $(fuzz_main)
tests_fuzz_elffile_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_elffile_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(LIBINTL)
tests_fuzz_lines_SOURCES = tests/fuzz/lines.c $(fuzz_main)
tests_fuzz_lines_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_lines_LDADD = src/monitor/libmonitor.a $(LIBINTL)
tests_fuzz_logalloc_SOURCES = tests/fuzz/logalloc.c $(fuzz_main)
tests_fuzz_logalloc_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_logalloc_LDADD = src/trace/libtrace.a src/segment/libsegment.a $(LIBINTL)
tests_fuzz_names_SOURCES = tests/fuzz/names.c $(fuzz_main)
tests_fuzz_names_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_names_LDADD = src/segment/libsegment.a $(LIBINTL)
tests_fuzz_options_SOURCES = tests/fuzz/options.c src/preload/options.c $(fuzz_main)
tests_fuzz_options_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_procfs_SOURCES = tests/fuzz/procfs.c $(fuzz_main)
tests_fuzz_procfs_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_procfs_LDADD = src/monitor/libmonitor.a $(LIBINTL)
tests_fuzz_reader_SOURCES = tests/fuzz/reader.c $(fuzz_main)
tests_fuzz_reader_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_reader_LDADD = src/segment/libsegment.a $(LIBINTL)
tests_fuzz_session_SOURCES = tests/fuzz/session.c $(fuzz_main)
tests_fuzz_session_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_session_LDADD = src/report/libreport.a src/monitor/libmonitor.a \
	src/segment/libsegment.a $(JANSSON_LIBS) $(ZSTD_LIBS) $(LIBINTL) -lm
tests_fuzz_textwidth_SOURCES = tests/fuzz/textwidth.c $(fuzz_main)
tests_fuzz_textwidth_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_textwidth_LDADD = src/report/libreport.a $(LIBINTL)
