# Options, the run without display, and the program memtop.
noinst_LIBRARIES += src/app/libapp.a
src_app_libapp_a_SOURCES = \
	src/app/attach.c src/app/attach.h \
	src/app/batch.c src/app/batch.h \
	src/app/blockask.c src/app/blockask.h src/app/blocklive.c src/app/blocklive.h \
	src/app/blockfile.c src/app/blockreports.c src/app/blockreports.h \
	src/app/budget.c src/app/budget.h src/app/judge.c src/app/judge.h \
	src/app/compare.c src/app/compare.h \
	src/app/condition.c src/app/condition.h \
	src/app/display.c src/app/display.h \
	src/app/export.c src/app/export.h \
	src/app/tracefile.c src/app/tracefile.h \
	src/app/exports.c src/app/exports.h \
	src/app/help.c src/app/help.h \
	src/app/fleet.c src/app/fleet.h \
	src/app/language.c src/app/language.h \
	src/app/metrics.c src/app/metrics.h \
	src/app/names.c src/app/names.h \
	src/app/options.c src/app/options.h src/app/argp-messages.h \
	src/app/options-use.c \
	src/app/output.c src/app/output.h \
	src/app/replay-run.c src/app/replay-run.h \
	src/app/replay-trace.c src/app/replay-trace.h \
	src/app/replay-text.c src/app/replay-text.h \
	src/app/progress.c src/app/progress.h \
	src/app/recording.c src/app/recording.h \
	src/app/report-options.c src/app/report-options.h \
	src/app/say.c src/app/say.h \
	src/app/sites-options.c src/app/sites-options.h \
	src/app/trigger.c src/app/trigger.h \
	src/app/spellings.c src/app/spellings.h \
	src/app/value.c src/app/value.h \
	src/app/open.c src/app/open.h \
	src/app/run.c src/app/run.h \
	src/app/textlog.c src/app/textlog.h

# At the top of the build tree, beside libmemtop.so.
bin_PROGRAMS += memtop
memtop_SOURCES = src/memtop.c src/i18n.h
memtop_LDADD = src/app/libapp.a src/tui/libtui.a src/trace/libtrace.a src/report/libreport.a \
	src/symbols/libsymbols.a src/monitor/libmonitor.a src/segment/libsegment.a \
	$(NCURSESW_LIBS) $(JANSSON_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(LIBDW_LIBS) \
	$(LIBELF_LIBS) $(LIBINTL) -lm

# Draws data files; memusagestat's successor.
bin_PROGRAMS += memtopstat
memtopstat_SOURCES = src/memtopstat.c src/i18n.h
memtopstat_LDADD = src/app/libapp.a src/trace/libtrace.a src/report/libreport.a \
	src/monitor/libmonitor.a src/segment/libsegment.a $(JANSSON_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) \
	$(LIBELF_LIBS) $(LIBINTL) -lm

# Allocation logs, for any allocator.
bin_PROGRAMS += memtop-munge
memtop_munge_SOURCES = src/memtop-munge.c src/i18n.h
memtop_munge_LDADD = src/app/libapp.a src/trace/libtrace.a src/report/libreport.a \
	src/monitor/libmonitor.a src/segment/libsegment.a $(LIBELF_LIBS) $(LIBINTL)
bin_PROGRAMS += memtop-replay
memtop_replay_SOURCES = src/memtop-replay.c src/i18n.h
memtop_replay_LDADD = src/app/libapp.a src/trace/libtrace.a src/report/libreport.a \
	src/monitor/libmonitor.a src/segment/libsegment.a $(ZSTD_LIBS) $(LIBELF_LIBS) $(LIBINTL) -ldl -lm

# Scripts that call memusage and memusagestat by name get ours.
if MEMUSAGE_NAMES
install-exec-hook:
	cd $(DESTDIR)$(bindir) && rm -f memusage memusagestat && \
	  $(LN_S) memtop memusage && $(LN_S) memtopstat memusagestat
uninstall-hook:
	cd $(DESTDIR)$(bindir) && rm -f memusage memusagestat
endif
