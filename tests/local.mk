# Tests mirror the source; see doc/HACKING.

# Tests hand their paths to LD_PRELOAD, shells and terminals, and would wait long for
# what never comes.
check_DATA += place
place:
	@case '$(abs_builddir)' in *[[:space:]]*) \
	  echo 'Tests need a directory without blanks in its name: $(abs_builddir)' >&2; exit 1;; \
	esac
.PHONY: place

# One file each, linked with all folders (LDADD in Makefile.am).
unit_tests = \
	tests/unit/archive tests/unit/as-log tests/unit/attach tests/unit/rss-breakdown \
	tests/unit/not-loaded tests/unit/blocks-view tests/unit/blocksizes tests/unit/budget \
	tests/unit/canvas tests/unit/capture tests/unit/checkpoints tests/unit/columns \
	tests/unit/condition \
	tests/unit/timeline tests/unit/dat tests/unit/dat-session tests/unit/debian tests/unit/demangle \
	tests/unit/example-page \
	tests/unit/facts tests/unit/fields tests/unit/footprint tests/unit/functions \
	tests/unit/graph tests/unit/help tests/unit/history tests/unit/hostile \
	tests/unit/json tests/unit/keys tests/unit/kind tests/unit/languages \
	tests/unit/launch tests/unit/merged \
	tests/unit/layout tests/unit/library tests/unit/line tests/unit/lines \
	tests/unit/listing tests/unit/locate tests/unit/logalloc tests/unit/meter \
	tests/unit/metrics tests/unit/munge tests/unit/naming tests/unit/native \
	tests/unit/options tests/unit/background-profiles tests/unit/output tests/unit/pack \
	tests/unit/perfmap tests/unit/plot tests/unit/preflight tests/unit/procfs tests/unit/profile \
	tests/unit/quantity tests/unit/ranges tests/unit/replay tests/unit/replay-text \
	tests/unit/array tests/unit/intern tests/unit/process-list tests/unit/script tests/unit/search \
	tests/unit/session tests/unit/signals tests/unit/since tests/unit/site-filter \
	tests/unit/siteexport tests/unit/snapshot tests/unit/spool tests/unit/tracked \
	tests/unit/summary tests/unit/symbols tests/unit/textwidth tests/unit/trace \
	tests/unit/trace-forms tests/unit/trace-session tests/unit/units \
	tests/unit/unseen tests/unit/view tests/unit/wrappers
if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif

# Those that need more than that.
tests_unit_json_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_plot_CPPFLAGS = $(AM_CPPFLAGS) \
	-DPNG_MODULE='"$(abs_builddir)/memtop-png.so"'
tests_unit_snapshot_CPPFLAGS = $(AM_CPPFLAGS) \
	-DPNG_MODULE='"$(abs_builddir)/memtop-png.so"'
tests_unit_symbols_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSUBJECT='"$(abs_builddir)/tests/unit/symbols-subject.so"' \
	-DSUBJECT_SOURCE='"$(abs_srcdir)/tests/unit/symbols-subject.cc"'
tests_unit_naming_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSUBJECT='"$(abs_builddir)/tests/unit/symbols-subject.so"'
tests_unit_view_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_unit_languages_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gettext,--wrap=dcgettext \
	-Wl,--wrap=ngettext,--wrap=dcngettext
tests_unit_fields_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_archive_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_listing_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)

# Made-up processes, and a memtop that plays them: at the top, beside libmemtop.so.
check_LIBRARIES += tests/support/libsupport.a
tests_support_libsupport_a_SOURCES = tests/support/script.c tests/support/script.h \
	tests/support/script-sites.c tests/support/script-sites.h
check_PROGRAMS += memtop-scripted
memtop_scripted_SOURCES = tests/support/memtop-scripted.c src/programs/memtop.c

# The page in doc/HACKING, as a page of the display: a file, and a line of the list.
tests_unit_example_page_CPPFLAGS = -I$(builddir)/tests/unit/example $(AM_CPPFLAGS)
tests_unit_example_page_SOURCES = tests/unit/example-page.c src/tui/pages.c
nodist_tests_unit_example_page_SOURCES = tests/unit/example/view-totals.c
example_page = tests/unit/example/tui/pages.h tests/unit/example/view-totals.c
$(tests_unit_example_page_OBJECTS): $(example_page)
tests/unit/example/view-totals.c: doc/HACKING
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	sed -n '/^    .\* SPDX/,/^[^ ]/{/^[^ ]/d;s/^    //;p;}' $(top_srcdir)/doc/HACKING >$@
tests/unit/example/tui/pages.h: src/tui/pages.h doc/HACKING
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	line=$$(grep '^    X(' $(top_srcdir)/doc/HACKING) && \
	awk -v line="$$line" '/^    X\(/ && !/\\$$/ { $$0 = $$0 " \\\n" line } { print }' \
	  $(top_srcdir)/src/tui/pages.h >$@
CLEANFILES += $(example_page)

# From outside.
test_scripts = \
	tests/completion.sh tests/e2e/attach.sh tests/e2e/batch.sh \
	tests/e2e/blocks-live.sh tests/e2e/blocks.sh tests/e2e/budget.sh \
	tests/e2e/containers.sh tests/e2e/display.sh tests/e2e/escapes.sh \
	tests/e2e/exports.sh tests/e2e/family.sh tests/e2e/files.sh tests/e2e/generated.sh \
	tests/e2e/history.sh \
	tests/e2e/keys.sh tests/e2e/kinds.sh tests/e2e/language.sh \
	tests/e2e/leaving.sh tests/e2e/lines.sh \
	tests/e2e/log.sh tests/e2e/memusage-same.sh tests/e2e/metrics.sh \
	tests/e2e/munge.sh tests/e2e/picture.sh tests/e2e/record.sh tests/e2e/replay.sh \
	tests/e2e/saved.sh tests/e2e/sites-real.sh tests/e2e/sites-saved.sh \
	tests/e2e/sites.sh tests/e2e/sizes.sh tests/e2e/stack.sh tests/e2e/stat.sh \
	tests/e2e/statuses.sh \
	tests/e2e/terminals.sh tests/e2e/trace.sh tests/e2e/trigger.sh tests/e2e/vanished.sh \
	tests/e2e/whose.sh \
	tests/packages.sh tests/setup.sh tests/tree.sh
dist_check_SCRIPTS += $(test_scripts)
TESTS += $(test_scripts)

EXTRA_DIST += \
	tests/data/asclib tests/data/logalloc tests/data/smaps tests/e2e/README \
	tests/e2e/common.sh tests/e2e/environment.c tests/e2e/server.c \
	tests/e2e/sites-subject.cc tests/e2e/tmux.sh tests/golden tests/lsan.supp \
	tests/unit/fake-process.h tests/unit/pages.h tests/unit/scratch-file.h \
	tests/unit/scratch-segment.h tests/unit/symbols-subject.cc

if HAVE_CMOCKA
check_DATA += tests/unit/symbols-subject.so
CLEANFILES += tests/unit/symbols-subject.so
tests/unit/symbols-subject.so: tests/unit/symbols-subject.cc
	@$(MKDIR_P) $(@D)
	$(AM_V_CXX)$(CXX) -std=c++17 -g -O2 -fPIC -shared -Wl,--build-id -o $@ $<
endif

# The report against glibc's memusage.
check_PROGRAMS += tests/e2e/memusage-cases
tests_e2e_memusage_cases_SOURCES = tests/e2e/memusage-cases.c
tests_e2e_memusage_cases_CFLAGS = -std=gnu11 -O0 -fno-builtin $(WARNINGS) -pthread
tests_e2e_memusage_cases_LDFLAGS = -pthread
check_DATA += tests/e2e/environment.plugin
CLEANFILES += tests/e2e/environment.plugin
if HAVE_CMOCKA
if HAVE_VTERM
check_PROGRAMS += tests/e2e/terminal
tests_e2e_terminal_SOURCES = tests/e2e/terminal.c
tests_e2e_terminal_CFLAGS = $(AM_CFLAGS) $(VTERM_CFLAGS)
tests_e2e_terminal_LDADD = $(VTERM_LIBS) $(CMOCKA_LIBS) -lutil
TESTS += tests/e2e/terminal
endif
endif
