# Tests mirror the source; see doc/HACKING.

# Tests hand their paths to LD_PRELOAD, shells and terminals, and would wait long for
# what never comes.
check_DATA += place
place:
	@case '$(abs_builddir)' in *[[:space:]]*) \
	  echo 'Tests need a directory without blanks in its name: $(abs_builddir)' >&2; exit 1;; \
	esac
.PHONY: place

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/units tests/unit/textwidth tests/unit/ranges tests/unit/facts
tests_unit_units_SOURCES = tests/unit/units.c
tests_unit_units_LDADD = src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_textwidth_SOURCES = tests/unit/textwidth.c
tests_unit_textwidth_LDADD = src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_ranges_SOURCES = tests/unit/ranges.c
tests_unit_ranges_LDADD = src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_facts_SOURCES = tests/unit/facts.c
tests_unit_facts_LDADD = src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
check_PROGRAMS += tests/unit/summary tests/unit/line tests/unit/json
tests_unit_summary_SOURCES = tests/unit/summary.c tests/unit/fake-process.h
tests_unit_summary_LDADD = src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_line_SOURCES = tests/unit/line.c tests/unit/fake-process.h
tests_unit_line_LDADD = src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_json_SOURCES = tests/unit/json.c tests/unit/fake-process.h
tests_unit_json_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_json_LDADD = src/report/libreport.a src/monitor/libmonitor.a $(JANSSON_LIBS) $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
check_PROGRAMS += tests/unit/plot
tests_unit_plot_SOURCES = tests/unit/plot.c tests/unit/fake-process.h
tests_unit_plot_CPPFLAGS = $(AM_CPPFLAGS) \
	-DPNG_MODULE='"$(abs_builddir)/memtop-png.so"'
tests_unit_plot_LDADD = src/report/libreport.a src/monitor/libmonitor.a \
	$(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
check_PROGRAMS += tests/unit/snapshot
tests_unit_snapshot_SOURCES = tests/unit/snapshot.c tests/unit/fake-process.h
tests_unit_snapshot_CPPFLAGS = $(AM_CPPFLAGS) \
	-DPNG_MODULE='"$(abs_builddir)/memtop-png.so"'
tests_unit_snapshot_LDADD = src/report/libreport.a src/monitor/libmonitor.a \
	src/segment/libsegment.a $(JANSSON_LIBS) $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -lm
check_PROGRAMS += tests/unit/siteexport
tests_unit_siteexport_SOURCES = tests/unit/siteexport.c
tests_unit_siteexport_LDADD = src/report/libreport.a src/monitor/libmonitor.a \
	src/segment/libsegment.a $(JANSSON_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(LIBELF_LIBS) $(CMOCKA_LIBS) \
	$(LIBINTL) -lm
TESTS += tests/unit/siteexport
check_PROGRAMS += tests/unit/demangle tests/unit/functions tests/unit/symbols
tests_unit_functions_SOURCES = tests/unit/functions.c
tests_unit_functions_LDADD = src/symbols/libsymbols.a src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS)
tests_unit_demangle_SOURCES = tests/unit/demangle.c
tests_unit_demangle_LDADD = src/symbols/libsymbols.a $(LIBDW_LIBS) $(CMOCKA_LIBS)
tests_unit_symbols_SOURCES = tests/unit/symbols.c
tests_unit_symbols_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSUBJECT='"$(abs_builddir)/tests/unit/symbols-subject.so"' \
	-DSUBJECT_SOURCE='"$(abs_srcdir)/tests/unit/symbols-subject.cc"'
tests_unit_symbols_LDADD = src/symbols/libsymbols.a src/monitor/libmonitor.a \
	$(LIBDW_LIBS) $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -ldl
check_PROGRAMS += tests/unit/naming
tests_unit_naming_SOURCES = tests/unit/naming.c
tests_unit_naming_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSUBJECT='"$(abs_builddir)/tests/unit/symbols-subject.so"'
tests_unit_naming_LDADD = src/symbols/libsymbols.a src/monitor/libmonitor.a \
	src/segment/libsegment.a $(LIBDW_LIBS) $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -lm
TESTS += tests/unit/demangle tests/unit/functions tests/unit/symbols tests/unit/naming
check_DATA += tests/unit/symbols-subject.so
CLEANFILES += tests/unit/symbols-subject.so
EXTRA_DIST += tests/unit/symbols-subject.cc
tests/unit/symbols-subject.so: tests/unit/symbols-subject.cc
	@$(MKDIR_P) $(@D)
	$(AM_V_CXX)$(CXX) -std=c++17 -g -O2 -fPIC -shared -Wl,--build-id -o $@ $<

TESTS += tests/unit/units tests/unit/textwidth tests/unit/ranges tests/unit/facts \
	tests/unit/summary tests/unit/line tests/unit/json tests/unit/plot \
	tests/unit/snapshot
endif

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/history tests/unit/procfs tests/unit/signals \
	tests/unit/spool tests/unit/lines tests/unit/capture tests/unit/launch \
	tests/unit/library tests/unit/meter tests/unit/script tests/unit/session \
	tests/unit/subject tests/unit/roster tests/unit/others tests/unit/room
tests_unit_history_SOURCES = tests/unit/history.c
tests_unit_history_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_procfs_SOURCES = tests/unit/procfs.c
tests_unit_procfs_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_signals_SOURCES = tests/unit/signals.c
tests_unit_signals_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_spool_SOURCES = tests/unit/spool.c
tests_unit_spool_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_lines_SOURCES = tests/unit/lines.c
tests_unit_lines_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_capture_SOURCES = tests/unit/capture.c
tests_unit_capture_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_launch_SOURCES = tests/unit/launch.c
tests_unit_launch_LDADD = src/monitor/libmonitor.a src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -ldl
tests_unit_library_SOURCES = tests/unit/library.c
tests_unit_library_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_meter_SOURCES = tests/unit/meter.c
tests_unit_meter_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_script_SOURCES = tests/unit/script.c
tests_unit_script_LDADD = src/monitor/libmonitor.a src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -lm
tests_unit_session_SOURCES = tests/unit/session.c
tests_unit_session_LDADD = src/monitor/libmonitor.a src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -ldl
tests_unit_room_SOURCES = tests/unit/room.c
tests_unit_room_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS)
tests_unit_roster_SOURCES = tests/unit/roster.c
tests_unit_roster_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_others_SOURCES = tests/unit/others.c tests/unit/scratch-segment.h
tests_unit_others_LDADD = src/monitor/libmonitor.a src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -lm
tests_unit_subject_SOURCES = tests/unit/subject.c
tests_unit_subject_LDADD = src/monitor/libmonitor.a src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/history tests/unit/procfs tests/unit/signals tests/unit/spool \
	tests/unit/lines tests/unit/capture tests/unit/launch tests/unit/library \
	tests/unit/meter tests/unit/script tests/unit/session tests/unit/subject \
	tests/unit/roster tests/unit/others tests/unit/room
endif

# Where memory was allocated.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/profile
tests_unit_profile_SOURCES = tests/unit/profile.c
tests_unit_profile_LDADD = src/monitor/libmonitor.a src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -lm
TESTS += tests/unit/profile
check_PROGRAMS += tests/unit/site-filter
tests_unit_site_filter_SOURCES = tests/unit/site-filter.c
tests_unit_site_filter_LDADD = src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/site-filter
endif

# Where the RSS went.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/bands
tests_unit_bands_SOURCES = tests/unit/bands.c
tests_unit_bands_LDADD = src/monitor/libmonitor.a src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/bands
endif
EXTRA_DIST += tests/data/smaps

# Preflight builds its own programs with $CC.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/preflight
tests_unit_preflight_SOURCES = tests/unit/preflight.c
tests_unit_preflight_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/preflight
endif

# The command line and memtop's files.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/options tests/unit/output
tests_unit_options_SOURCES = tests/unit/options.c
tests_unit_options_LDADD = src/app/libapp.a src/report/libreport.a src/monitor/libmonitor.a \
	src/segment/libsegment.a \
	$(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_output_SOURCES = tests/unit/output.c
tests_unit_output_LDADD = src/app/libapp.a src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/options tests/unit/output
endif

# memtop -B from outside.
dist_check_SCRIPTS += tests/e2e/batch.sh tests/e2e/language.sh
TESTS += tests/e2e/batch.sh tests/e2e/language.sh
EXTRA_DIST += tests/lsan.supp

# The display.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/layout tests/unit/graph tests/unit/keys tests/unit/canvas
tests_unit_layout_SOURCES = tests/unit/layout.c
tests_unit_layout_LDADD = src/tui/libtui.a $(CMOCKA_LIBS)
tests_unit_graph_SOURCES = tests/unit/graph.c
tests_unit_graph_LDADD = src/tui/libtui.a $(CMOCKA_LIBS) -lm
tests_unit_keys_SOURCES = tests/unit/keys.c
tests_unit_keys_LDADD = src/tui/libtui.a $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_canvas_SOURCES = tests/unit/canvas.c
tests_unit_canvas_LDADD = src/tui/libtui.a src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
check_PROGRAMS += tests/unit/help
tests_unit_help_SOURCES = tests/unit/help.c
tests_unit_help_LDADD = src/app/libapp.a src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/help
check_PROGRAMS += tests/unit/search
tests_unit_search_SOURCES = tests/unit/search.c
tests_unit_search_LDADD = src/tui/libtui.a $(CMOCKA_LIBS)
TESTS += tests/unit/search
check_PROGRAMS += tests/unit/view
tests_unit_view_SOURCES = tests/unit/view.c tests/unit/pages.h
tests_unit_view_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_unit_view_LDADD = src/tui/libtui.a src/report/libreport.a \
	src/monitor/libmonitor.a src/segment/libsegment.a \
	$(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -lm
check_PROGRAMS += tests/unit/languages
tests_unit_languages_SOURCES = tests/unit/languages.c tests/unit/pages.h
tests_unit_languages_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gettext,--wrap=dcgettext \
	-Wl,--wrap=ngettext,--wrap=dcngettext
tests_unit_languages_LDADD = src/tui/libtui.a src/report/libreport.a \
	src/monitor/libmonitor.a src/segment/libsegment.a \
	$(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -lm
TESTS += tests/unit/languages
check_PROGRAMS += tests/unit/checkpoints
tests_unit_checkpoints_SOURCES = tests/unit/checkpoints.c
tests_unit_checkpoints_LDADD = src/monitor/libmonitor.a src/segment/libsegment.a \
	$(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/checkpoints
check_PROGRAMS += tests/unit/since
tests_unit_since_SOURCES = tests/unit/since.c
tests_unit_since_LDADD = src/tui/libtui.a src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/since
EXTRA_DIST += tests/golden
TESTS += tests/unit/layout tests/unit/graph tests/unit/keys tests/unit/canvas \
	tests/unit/view
endif

# The display end to end, in a terminal of its own.
dist_check_SCRIPTS += tests/e2e/display.sh tests/e2e/leaving.sh tests/e2e/sizes.sh \
	tests/e2e/history.sh tests/e2e/saved.sh tests/e2e/keys.sh tests/e2e/lines.sh \
	tests/e2e/terminals.sh tests/e2e/attach.sh tests/e2e/family.sh tests/e2e/whose.sh
TESTS += tests/e2e/display.sh tests/e2e/leaving.sh tests/e2e/sizes.sh \
	tests/e2e/history.sh tests/e2e/saved.sh tests/e2e/keys.sh tests/e2e/lines.sh \
	tests/e2e/terminals.sh tests/e2e/attach.sh tests/e2e/family.sh tests/e2e/whose.sh
EXTRA_DIST += tests/e2e/server.c tests/e2e/README tests/e2e/common.sh tests/e2e/tmux.sh

# The report against glibc's memusage.
check_PROGRAMS += tests/e2e/memusage-cases
tests_e2e_memusage_cases_SOURCES = tests/e2e/memusage-cases.c
tests_e2e_memusage_cases_CFLAGS = -std=gnu11 -O0 -fno-builtin $(WARNINGS) -pthread
tests_e2e_memusage_cases_LDFLAGS = -pthread
check_DATA += tests/e2e/environment.plugin
CLEANFILES += tests/e2e/environment.plugin
EXTRA_DIST += tests/e2e/environment.c
dist_check_SCRIPTS += tests/e2e/memusage-same.sh
TESTS += tests/e2e/memusage-same.sh
if HAVE_CMOCKA
if HAVE_VTERM
check_PROGRAMS += tests/e2e/terminal
tests_e2e_terminal_SOURCES = tests/e2e/terminal.c
tests_e2e_terminal_CFLAGS = $(AM_CFLAGS) $(VTERM_CFLAGS)
tests_e2e_terminal_LDADD = $(VTERM_LIBS) $(CMOCKA_LIBS) -lutil
TESTS += tests/e2e/terminal
endif
endif

# Files that cannot be written, and text that terminals must not get.
dist_check_SCRIPTS += tests/e2e/files.sh tests/e2e/escapes.sh
TESTS += tests/e2e/files.sh tests/e2e/escapes.sh

# What the tree promises.
dist_check_SCRIPTS += tests/tree.sh
TESTS += tests/tree.sh
dist_check_SCRIPTS += tests/completion.sh tests/packages.sh tests/setup.sh
TESTS += tests/completion.sh tests/packages.sh tests/setup.sh

# Recorded events.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/dat
tests_unit_dat_SOURCES = tests/unit/dat.c
tests_unit_dat_LDADD = src/trace/libtrace.a $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/dat
endif
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/curve
tests_unit_curve_SOURCES = tests/unit/curve.c
tests_unit_curve_LDADD = src/report/libreport.a src/monitor/libmonitor.a \
	src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/curve
endif
dist_check_SCRIPTS += tests/e2e/exports.sh tests/e2e/sites.sh tests/e2e/sites-saved.sh tests/e2e/record.sh tests/e2e/stat.sh tests/e2e/trace.sh
EXTRA_DIST += tests/e2e/sites-subject.cc
TESTS += tests/e2e/exports.sh tests/e2e/sites.sh tests/e2e/sites-saved.sh tests/e2e/record.sh tests/e2e/stat.sh tests/e2e/trace.sh
TESTS += tests/e2e/picture.sh tests/e2e/sites-real.sh
dist_check_SCRIPTS += tests/e2e/picture.sh tests/e2e/sites-real.sh

# Budgets.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/quantity tests/unit/budget tests/unit/unseen
tests_unit_unseen_SOURCES = tests/unit/unseen.c
tests_unit_unseen_LDADD = src/monitor/libmonitor.a $(CMOCKA_LIBS)
tests_unit_quantity_SOURCES = tests/unit/quantity.c
tests_unit_quantity_LDADD = src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_budget_SOURCES = tests/unit/budget.c
tests_unit_budget_LDADD = src/app/libapp.a src/report/libreport.a \
	src/monitor/libmonitor.a src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/quantity tests/unit/budget tests/unit/unseen
endif
dist_check_SCRIPTS += tests/e2e/budget.sh
TESTS += tests/e2e/budget.sh

# A small stack.
dist_check_SCRIPTS += tests/e2e/stack.sh
TESTS += tests/e2e/stack.sh

# Snapshots on a condition.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/condition
tests_unit_condition_SOURCES = tests/unit/condition.c
tests_unit_condition_LDADD = src/app/libapp.a src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/condition
endif
dist_check_SCRIPTS += tests/e2e/trigger.sh
TESTS += tests/e2e/trigger.sh

# Session files.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/fields tests/unit/pack
tests_unit_fields_SOURCES = tests/unit/fields.c
tests_unit_fields_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_fields_LDADD = src/report/libreport.a src/monitor/libmonitor.a \
	src/segment/libsegment.a $(JANSSON_LIBS) $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_pack_SOURCES = tests/unit/pack.c
tests_unit_pack_LDADD = src/report/libreport.a $(ZSTD_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/dat-session
tests_unit_dat_session_SOURCES = tests/unit/dat-session.c tests/unit/scratch-file.h
tests_unit_dat_session_LDADD = src/trace/libtrace.a src/monitor/libmonitor.a \
	src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -ldl
check_PROGRAMS += tests/unit/archive
tests_unit_archive_SOURCES = tests/unit/archive.c
tests_unit_archive_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_archive_LDADD = src/report/libreport.a src/monitor/libmonitor.a \
	src/segment/libsegment.a $(JANSSON_LIBS) $(ZSTD_LIBS) $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -ldl -lm
TESTS += tests/unit/archive tests/unit/dat-session tests/unit/fields tests/unit/pack
endif

# Allocation logs.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/as-log tests/unit/logalloc tests/unit/munge
tests_unit_logalloc_SOURCES = tests/unit/logalloc.c
tests_unit_logalloc_LDADD = src/trace/libtrace.a src/segment/libsegment.a $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_as_log_SOURCES = tests/unit/as-log.c
tests_unit_as_log_LDADD = src/trace/libtrace.a src/monitor/libmonitor.a \
	src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_munge_SOURCES = tests/unit/munge.c
tests_unit_munge_LDADD = src/trace/libtrace.a src/segment/libsegment.a $(CMOCKA_LIBS) $(LIBINTL)
check_PROGRAMS += tests/unit/replay tests/unit/replay-text tests/unit/footprint
tests_unit_replay_SOURCES = tests/unit/replay.c
tests_unit_replay_LDADD = src/trace/libtrace.a src/segment/libsegment.a $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_replay_text_SOURCES = tests/unit/replay-text.c
tests_unit_replay_text_LDADD = src/app/libapp.a src/report/libreport.a $(CMOCKA_LIBS) \
	$(LIBINTL)
tests_unit_footprint_SOURCES = tests/unit/footprint.c
tests_unit_footprint_LDADD = src/trace/libtrace.a src/segment/libsegment.a $(CMOCKA_LIBS) $(LIBINTL) -ldl
TESTS += tests/unit/as-log tests/unit/logalloc tests/unit/munge tests/unit/replay tests/unit/replay-text \
	tests/unit/footprint
check_PROGRAMS += tests/unit/trace tests/unit/native
tests_unit_trace_SOURCES = tests/unit/trace.c tests/unit/scratch-file.h
tests_unit_trace_LDADD = src/trace/libtrace.a src/monitor/libmonitor.a src/segment/libsegment.a $(ZSTD_LIBS) \
	$(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_native_SOURCES = tests/unit/native.c tests/unit/scratch-file.h
tests_unit_native_LDADD = src/trace/libtrace.a src/monitor/libmonitor.a src/segment/libsegment.a $(ZSTD_LIBS) \
	$(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
check_PROGRAMS += tests/unit/trace-session
tests_unit_trace_session_SOURCES = tests/unit/trace-session.c tests/unit/scratch-file.h
tests_unit_trace_session_LDADD = src/trace/libtrace.a src/monitor/libmonitor.a \
	src/segment/libsegment.a $(ZSTD_LIBS) $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -ldl
TESTS += tests/unit/trace tests/unit/native tests/unit/trace-session
endif
dist_check_SCRIPTS += tests/e2e/munge.sh tests/e2e/replay.sh tests/e2e/log.sh
TESTS += tests/e2e/munge.sh tests/e2e/replay.sh tests/e2e/log.sh
EXTRA_DIST += tests/data/logalloc

# In containers, and from outside.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/attach
tests_unit_attach_SOURCES = tests/unit/attach.c
tests_unit_attach_LDADD = src/monitor/libmonitor.a src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -ldl
TESTS += tests/unit/attach
endif
dist_check_SCRIPTS += tests/e2e/containers.sh
TESTS += tests/e2e/containers.sh

# Lists of processes.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/listing
tests_unit_listing_SOURCES = tests/unit/listing.c
tests_unit_listing_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_listing_LDADD = src/report/libreport.a src/monitor/libmonitor.a $(JANSSON_LIBS) $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/listing
endif

# A segment that changes under its readers.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/hostile
tests_unit_hostile_SOURCES = tests/unit/hostile.c tests/unit/scratch-segment.h
tests_unit_hostile_LDADD = src/segment/libsegment.a $(CMOCKA_LIBS) $(LIBINTL) -lm -lpthread
TESTS += tests/unit/hostile
endif

# Processes of others: where their segments are, their numbers, why they have none.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/locate tests/unit/blind
tests_unit_blind_SOURCES = tests/unit/blind.c
tests_unit_blind_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
tests_unit_locate_SOURCES = tests/unit/locate.c
tests_unit_locate_LDADD = src/monitor/libmonitor.a src/segment/libsegment.a $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/locate tests/unit/blind
endif

# Figures for Prometheus.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/metrics
tests_unit_metrics_SOURCES = tests/unit/metrics.c
tests_unit_metrics_LDADD = src/report/libreport.a $(CMOCKA_LIBS) $(LIBINTL)
TESTS += tests/unit/metrics
endif
dist_check_SCRIPTS += tests/e2e/metrics.sh
TESTS += tests/e2e/metrics.sh

# Reports by block size.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/blocksizes
tests_unit_blocksizes_SOURCES = tests/unit/blocksizes.c
tests_unit_blocksizes_LDADD = src/monitor/libmonitor.a $(LIBELF_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/trace-forms
tests_unit_trace_forms_SOURCES = tests/unit/trace-forms.c tests/unit/scratch-file.h
tests_unit_trace_forms_LDADD = src/trace/libtrace.a src/monitor/libmonitor.a \
	src/segment/libsegment.a $(ZSTD_LIBS) $(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL)
check_PROGRAMS += tests/unit/blocks-view
tests_unit_blocks_view_SOURCES = tests/unit/blocks-view.c tests/unit/pages.h
tests_unit_blocks_view_LDADD = src/tui/libtui.a src/report/libreport.a \
	src/monitor/libmonitor.a src/segment/libsegment.a \
	$(LIBELF_LIBS) $(CMOCKA_LIBS) $(LIBINTL) -lm
TESTS += tests/unit/blocksizes tests/unit/trace-forms tests/unit/blocks-view
endif
EXTRA_DIST += tests/data/asclib
dist_check_SCRIPTS += tests/e2e/blocks.sh tests/e2e/blocks-live.sh
TESTS += tests/e2e/blocks.sh tests/e2e/blocks-live.sh
