# Fuzz targets, one for each reader of untrusted input.  As tests they read their corpora
# and variants of them (main.c).  With --enable-fuzz CC=clang they are built for libFuzzer:
# ./tests/fuzz/dat CORPUS
if ENABLE_FUZZ
fuzz_main =
fuzz_ldflags = -fsanitize=fuzzer
else
fuzz_main = tests/fuzz/main.c
fuzz_ldflags =
TESTS += $(fuzz_targets)
endif

fuzz_targets = tests/fuzz/answer tests/fuzz/blockparams tests/fuzz/cfi tests/fuzz/dat tests/fuzz/drain tests/fuzz/elffile \
	tests/fuzz/kind tests/fuzz/lines \
	tests/fuzz/logalloc tests/fuzz/names tests/fuzz/native tests/fuzz/options tests/fuzz/procfs \
	tests/fuzz/reader tests/fuzz/session tests/fuzz/sites tests/fuzz/textwidth tests/fuzz/trace-forms
check_PROGRAMS += $(fuzz_targets)
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/fuzz.h tests/fuzz/segment.h

tests_fuzz_answer_SOURCES = tests/fuzz/answer.c $(fuzz_main)
tests_fuzz_answer_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_blockparams_SOURCES = tests/fuzz/blockparams.c $(fuzz_main)
tests_fuzz_blockparams_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_cfi_SOURCES = tests/fuzz/cfi.c src/preload/sites/cfi.c $(fuzz_main)
tests_fuzz_cfi_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_dat_SOURCES = tests/fuzz/dat.c $(fuzz_main)
tests_fuzz_dat_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_drain_SOURCES = tests/fuzz/drain.c $(fuzz_main)
tests_fuzz_drain_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_elffile_SOURCES = tests/fuzz/elffile.c $(fuzz_main)
tests_fuzz_elffile_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_kind_SOURCES = tests/fuzz/kind.c $(fuzz_main)
tests_fuzz_kind_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_lines_SOURCES = tests/fuzz/lines.c $(fuzz_main)
tests_fuzz_lines_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_logalloc_SOURCES = tests/fuzz/logalloc.c $(fuzz_main)
tests_fuzz_logalloc_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_names_SOURCES = tests/fuzz/names.c $(fuzz_main)
tests_fuzz_names_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_native_SOURCES = tests/fuzz/native.c $(fuzz_main)
tests_fuzz_native_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_options_SOURCES = tests/fuzz/options.c src/preload/options.c $(fuzz_main)
tests_fuzz_options_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_procfs_SOURCES = tests/fuzz/procfs.c $(fuzz_main)
tests_fuzz_procfs_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_reader_SOURCES = tests/fuzz/reader.c $(fuzz_main)
tests_fuzz_reader_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_session_SOURCES = tests/fuzz/session.c $(fuzz_main)
tests_fuzz_session_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
# With tables of their full size, a reader would copy 30 MiB of zeros if a count is wrong.
tests_fuzz_sites_SOURCES = tests/fuzz/sites.c tests/fuzz/segment.h $(fuzz_main) \
	$(src_segment_libsegment_a_SOURCES)
tests_fuzz_sites_CPPFLAGS = $(AM_CPPFLAGS) -DSITES_SMALL
tests_fuzz_sites_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_sites_LDADD = $(LIBINTL)
tests_fuzz_textwidth_SOURCES = tests/fuzz/textwidth.c $(fuzz_main)
tests_fuzz_textwidth_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
tests_fuzz_trace_forms_SOURCES = tests/fuzz/trace-forms.c $(fuzz_main)
tests_fuzz_trace_forms_LDFLAGS = $(AM_LDFLAGS) $(fuzz_ldflags)
