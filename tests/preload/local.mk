# The library's tests: small programs that run under the libmemtop.so just built, and
# cmocka programs that know what its counters must be afterwards.

# A program (.run) or a shared object (.plugin) is built from one file, without an
# optimiser, which might remove calls, and without a sanitizer, which has its own malloc.
PROGRAM_CFLAGS = -std=gnu11 -Wall -O0 -g -fno-builtin -pthread -I$(top_srcdir)/src -I$(top_srcdir)/include
SUFFIXES = .c .cc .run .plugin
.c.run:
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CC) $(PROGRAM_CFLAGS) -D_GNU_SOURCE -rdynamic -o $@ $< -ldl
.c.plugin:
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CC) $(PROGRAM_CFLAGS) -D_GNU_SOURCE -fPIC -shared -o $@ $<
.cc.run:
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CXX) -std=c++17 -O0 -g -fno-builtin -fsized-deallocation -pthread \
	  -I$(top_srcdir)/include -o $@ $< -ldl
.cc.plugin:
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CXX) -std=c++17 -O0 -g -fno-builtin -fPIC -shared -o $@ $<

programs = tests/preload/programs
# For tests/preload/sites: an object without a build-id, which is known by its file.
$(programs)/sites.run: PROGRAM_CFLAGS += -Wl,--build-id=none
# For tests/unit/lookup: only the hash table that all loaders know.
$(programs)/deep.plugin: PROGRAM_CFLAGS += -Wl,--hash-style=sysv
watched = $(programs)/rows.run $(programs)/threads.run $(programs)/stack.run \
	$(programs)/forks.run $(programs)/life.run $(programs)/ifunc.run \
	$(programs)/signals.run $(programs)/bump.plugin $(programs)/blind.plugin \
	$(programs)/own-malloc.run $(programs)/cxx.run $(programs)/plugin.plugin \
	$(programs)/deep.plugin $(programs)/plugins.run $(programs)/heap.run \
	$(programs)/harm.run $(programs)/faults.run $(programs)/sandbox.run \
	$(programs)/meddler.plugin $(programs)/windows.run \
	$(programs)/rings.run $(programs)/dormant.run $(programs)/log.run \
	$(programs)/memprof.run $(programs)/memprof-cxx.run $(programs)/sites.run \
	$(programs)/dlerror.run $(programs)/plugins-fixed.run $(programs)/bare.run \
	$(programs)/inert.plugin $(programs)/shadow.run $(programs)/chains.run \
	$(programs)/compare.plugin $(programs)/interrupts.plugin \
	$(programs)/room-small.plugin $(programs)/room-large.plugin \
	$(programs)/sharing.run $(programs)/remapper.plugin
EXTRA_DIST += $(programs)/cases.h $(programs)/frames.h $(programs)/rows.c $(programs)/threads.c \
	$(programs)/stack.c $(programs)/forks.c $(programs)/life.c \
	$(programs)/ifunc.c $(programs)/signals.c $(programs)/bump.c $(programs)/blind.c \
	$(programs)/own-malloc.c $(programs)/cxx.cc $(programs)/plugin.cc \
	$(programs)/deep.c $(programs)/plugins.c $(programs)/heap.c \
	$(programs)/harm.c $(programs)/faults.c $(programs)/sandbox.c \
	$(programs)/meddler.c $(programs)/windows.c \
	$(programs)/rings.c $(programs)/dormant.c $(programs)/log.c \
	$(programs)/memprof.c $(programs)/memprof-cxx.cc $(programs)/sites.c \
	$(programs)/dlerror.cc $(programs)/bare.c $(programs)/inert.c \
	$(programs)/shadow.c $(programs)/chains.cc $(programs)/compare.c \
	$(programs)/interrupts.c $(programs)/room.c \
	$(programs)/sharing.c $(programs)/remapper.c

if HAVE_CMOCKA
check_DATA += $(watched)
check_LIBRARIES += tests/preload/libwatch.a
tests_preload_libwatch_a_SOURCES = tests/preload/watch.c tests/preload/watch.h
WATCH_LIBS = tests/preload/libwatch.a $(LDADD)

library_tests = tests/preload/rows tests/preload/threads tests/preload/stack \
	tests/preload/forks tests/preload/life tests/preload/allocators \
	tests/preload/options tests/preload/harm tests/preload/rings \
	tests/preload/foreign tests/preload/faults tests/preload/dormant tests/preload/log \
	tests/preload/memprof tests/preload/sites tests/preload/windows tests/preload/shadow
check_PROGRAMS += $(library_tests)
TESTS += $(library_tests)
tests_preload_rows_LDADD = $(WATCH_LIBS)
tests_preload_threads_LDADD = $(WATCH_LIBS)
tests_preload_stack_LDADD = $(WATCH_LIBS)
tests_preload_forks_LDADD = $(WATCH_LIBS)
tests_preload_life_LDADD = $(WATCH_LIBS)
tests_preload_allocators_LDADD = $(WATCH_LIBS)
tests_preload_options_LDADD = $(WATCH_LIBS)
tests_preload_harm_LDADD = $(WATCH_LIBS)
tests_preload_rings_LDADD = $(WATCH_LIBS)
tests_preload_foreign_LDADD = $(WATCH_LIBS)
tests_preload_faults_LDADD = $(WATCH_LIBS)
tests_preload_dormant_LDADD = $(WATCH_LIBS)
tests_preload_windows_LDADD = $(WATCH_LIBS)
tests_preload_sites_LDADD = $(WATCH_LIBS) -lm -ldl
tests_preload_memprof_LDADD = $(WATCH_LIBS) -lm
tests_preload_log_LDADD = $(WATCH_LIBS)
tests_preload_shadow_LDADD = $(WATCH_LIBS)
endif
CLEANFILES += $(watched)
# At a fixed address.
$(programs)/plugins-fixed.run: $(programs)/plugins.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CC) $(PROGRAM_CFLAGS) -D_GNU_SOURCE -no-pie -fno-pie -rdynamic -o $@ $< -ldl

# As compilers build programs, for tests/preload/unwind.sh; and the library's walks beside
# libgcc's.
$(programs)/chains.run: $(programs)/chains.cc
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CXX) -std=c++17 -O2 -fomit-frame-pointer -g -fno-builtin -pthread -o $@ $<
$(programs)/room-small.plugin: PROGRAM_CFLAGS += -DROOM=1032
$(programs)/room-large.plugin: PROGRAM_CFLAGS += -DROOM=2056
$(programs)/room-small.plugin $(programs)/room-large.plugin: $(programs)/room.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CC) $(PROGRAM_CFLAGS) -fPIC -shared -o $@ $<
compared = $(srcdir)/src/preload/sites/unwind.c $(srcdir)/src/preload/sites/cfi.c \
	$(srcdir)/src/preload/sites/objects.c $(srcdir)/src/preload/sites/steps.c \
	$(srcdir)/src/preload/lookup.c
$(programs)/compare.plugin: $(programs)/compare.c $(compared)
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CC) -std=gnu11 -O2 -g -fPIC -fvisibility=hidden -fno-builtin-malloc \
	  -ftls-model=initial-exec -D_GNU_SOURCE -I. -I$(srcdir)/src -shared -o $@ \
	  $(srcdir)/$(programs)/compare.c $(compared) -lgcc_s -ldl
# The walker of Python's frames, with its sources, in a library of its own.
python_walker = src/preload/sites/python.c src/preload/sites/python-place.c \
	src/preload/sites/python-layout.c src/preload/sites/accessor.c src/preload/lookup.c
$(programs)/python.plugin: $(programs)/python.c $(python_walker) \
		src/preload/sites/python.h src/preload/sites/python-private.h \
		src/preload/sites/python-layout.h src/preload/sites/accessor.h
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CC) $(PROGRAM_CFLAGS) -O2 -D_GNU_SOURCE -ftls-model=initial-exec \
	  -I. -fPIC -shared -o $@ $(filter %.c,$^)
# Functions as compilers make them.
accessor_flags = $(PROGRAM_CFLAGS) -O2 -D_GNU_SOURCE -I.
$(programs)/accessor.run: $(programs)/accessor.c src/preload/sites/accessor.c src/preload/lookup.c \
		src/preload/sites/accessor.h
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CC) $(accessor_flags) -rdynamic -o $@ $(filter %.c,$^) -ldl
$(programs)/accessor.plugin: $(programs)/accessor.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CC) $(accessor_flags) -DSHARED -fPIC -shared -o $@ $<
check_DATA += $(programs)/python.plugin $(programs)/accessor.run $(programs)/accessor.plugin
CLEANFILES += $(programs)/python.plugin $(programs)/accessor.run $(programs)/accessor.plugin
EXTRA_DIST += $(programs)/python.c $(programs)/accessor.c tests/preload/python/layout.c \
	tests/preload/python/interpreters.sh tests/preload/python/tree.py \
	tests/preload/python/stress.py tests/preload/python/steps.py
dist_check_SCRIPTS += tests/preload/python.sh tests/preload/python-layout.sh \
	tests/preload/accessor.sh
TESTS += tests/preload/python.sh tests/preload/python-layout.sh tests/preload/accessor.sh

EXTRA_DIST += tests/preload/README

# The library as a file, and the headers.
dist_check_SCRIPTS += tests/preload/library.sh tests/preload/header.sh \
	tests/preload/profiler.sh tests/preload/modes.sh tests/preload/calls.sh tests/preload/bare.sh \
	tests/preload/unwind.sh tests/preload/sharing.sh \
	tests/headers.sh
TESTS += tests/preload/library.sh tests/preload/header.sh \
	tests/preload/profiler.sh tests/headers.sh
if HAVE_CMOCKA
TESTS += tests/preload/calls.sh tests/preload/bare.sh tests/preload/unwind.sh tests/preload/sharing.sh
endif

# The tests of what can hurt a program again, in each other mode of the library.
if HAVE_CMOCKA
modes = tests/preload/with-sites.sh tests/preload/with-rings.sh tests/preload/with-log.sh \
	tests/preload/with-dormant.sh
dist_check_SCRIPTS += $(modes)
TESTS += $(modes)
endif

# The protocol, and the flight recorder with the test's own clock.
if HAVE_CMOCKA
segment_tests = tests/unit/reader tests/unit/names tests/unit/histogram \
	tests/unit/recorder tests/unit/control tests/unit/sites
check_PROGRAMS += $(segment_tests)
TESTS += $(segment_tests)
SEGMENT_LIBS = src/segment/libsegment.a $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_reader_SOURCES = tests/unit/reader.c tests/unit/scratch-segment.h
tests_unit_reader_LDADD = $(SEGMENT_LIBS)
tests_unit_names_LDADD = $(SEGMENT_LIBS)
tests_unit_control_SOURCES = tests/unit/control.c tests/unit/scratch-segment.h
tests_unit_control_LDADD = $(SEGMENT_LIBS)
tests_unit_sites_SOURCES = tests/unit/sites.c tests/unit/scratch-segment.h
tests_unit_sites_LDADD = $(SEGMENT_LIBS) -lm
tests_unit_histogram_LDADD = $(SEGMENT_LIBS)
tests_unit_recorder_SOURCES = tests/unit/recorder.c tests/unit/scratch-segment.h \
	src/preload/recorder.c
tests_unit_recorder_LDADD = $(SEGMENT_LIBS)
endif

# Counters with the reader, and rings with the drain, in one process; also under
# ThreadSanitizer.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/account tests/unit/rings
tests_unit_account_SOURCES = tests/unit/account.c tests/unit/hosted-library.h \
	tests/unit/scratch-segment.h src/preload/account.c src/preload/fold.c src/preload/recorder.c
tests_unit_account_LDADD = $(SEGMENT_LIBS)
tests_unit_rings_SOURCES = tests/unit/rings.c tests/unit/hosted-library.h \
	tests/unit/scratch-segment.h src/preload/account.c src/preload/fold.c src/preload/recorder.c \
	src/preload/ring/ring.c src/preload/ticks.c
tests_unit_rings_LDADD = $(SEGMENT_LIBS)
check_PROGRAMS += tests/unit/draw tests/unit/table tests/unit/own-profile \
	tests/unit/followed tests/unit/steps tests/unit/cfi tests/unit/lookup
tests_unit_steps_SOURCES = tests/unit/steps.c src/preload/sites/steps.c
tests_unit_steps_LDADD = $(CMOCKA_LIBS)
tests_unit_cfi_SOURCES = tests/unit/cfi.c src/preload/sites/cfi.c
tests_unit_cfi_LDADD = $(CMOCKA_LIBS)
tests_unit_lookup_SOURCES = tests/unit/lookup.c src/preload/lookup.c
tests_unit_lookup_LDADD = $(CMOCKA_LIBS) -ldl
tests_unit_draw_SOURCES = tests/unit/draw.c src/preload/draw.c
tests_unit_draw_LDADD = $(CMOCKA_LIBS) -lm
tests_unit_table_SOURCES = tests/unit/table.c src/preload/table.c
tests_unit_table_LDADD = $(CMOCKA_LIBS)
tests_unit_own_profile_SOURCES = tests/unit/own-profile.c tests/unit/hosted-library.h \
	tests/unit/scratch-segment.h src/preload/memprof/profile.c src/preload/draw.c \
	src/preload/table.c
tests_unit_own_profile_LDADD = $(SEGMENT_LIBS) -lm
tests_unit_followed_SOURCES = tests/unit/followed.c tests/unit/hosted-library.h \
	tests/unit/scratch-segment.h src/preload/sites/sites.c src/preload/sites/stacks.c \
	src/preload/sites/growing.c src/preload/sites/index.c src/preload/sites/budget.c \
	src/preload/table.c
tests_unit_followed_LDFLAGS = -Wl,--wrap=mt_table_release
# Calls that are optimised when linking are not wrapped.
src/preload/sites/sites.o: override CFLAGS += -fno-lto
tests_unit_followed_LDADD = $(SEGMENT_LIBS) -lm
dist_check_SCRIPTS += tests/tsan.sh
TESTS += tests/unit/account tests/unit/rings tests/unit/draw tests/unit/table \
	tests/unit/own-profile tests/unit/followed tests/unit/steps tests/unit/cfi tests/unit/lookup \
	tests/tsan.sh
endif
