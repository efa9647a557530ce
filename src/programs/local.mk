# The four programs, and what they share.  They are linked with all folders;
# the linker takes what it needs.
noinst_LIBRARIES += src/programs/libprograms.a
src_programs_libprograms_a_SOURCES = \
	src/programs/argp-messages.h \
	src/programs/attach.c src/programs/attach.h \
	src/programs/batch.c \
	src/programs/blockask.c src/programs/blockask.h \
	src/programs/blockfile.c \
	src/programs/blocklive.c src/programs/blocklive.h \
	src/programs/blockreports.c src/programs/blockreports.h \
	src/programs/budget.c src/programs/budget.h \
	src/programs/compare.c src/programs/compare.h \
	src/programs/condition.c src/programs/condition.h \
	src/programs/display.c \
	src/programs/export.c \
	src/programs/exports.c src/programs/exports.h \
	src/programs/help.c src/programs/help.h \
	src/programs/judge.c \
	src/programs/language.c src/programs/language.h \
	src/programs/metrics.c src/programs/metrics.h \
	src/programs/names.c src/programs/names.h \
	src/programs/open.c src/programs/open.h \
	src/programs/options-use.c \
	src/programs/options.c src/programs/options.h \
	src/programs/output.c src/programs/output.h \
	src/programs/recording.c \
	src/programs/replay-run.c src/programs/replay-run.h \
	src/programs/replay-text.c src/programs/replay-text.h \
	src/programs/replay-trace.c src/programs/replay-trace.h \
	src/programs/report-options.c src/programs/report-options.h \
	src/programs/run.c src/programs/run.h \
	src/programs/say.c src/programs/say.h \
	src/programs/sites-options.c src/programs/sites-options.h \
	src/programs/spellings.c \
	src/programs/status.c src/programs/status.h \
	src/programs/textlog.c src/programs/textlog.h \
	src/programs/tracefile.c src/programs/tracefile.h \
	src/programs/trigger.c src/programs/trigger.h \
	src/programs/uses.c src/programs/uses.h \
	src/programs/value.c src/programs/value.h \
	src/programs/wrapperfile.c src/programs/wrapperfile.h

# At the top of the build tree, beside libmemtop.so.
bin_PROGRAMS += memtop
memtop_SOURCES = src/programs/memtop.c
memtop_LDADD = $(PRODUCT)

# Draws data files; memusagestat's successor.
bin_PROGRAMS += memtopstat
memtopstat_SOURCES = src/programs/memtopstat.c
memtopstat_LDADD = $(PRODUCT)

# Allocation logs, for any allocator.
bin_PROGRAMS += memtop-munge
memtop_munge_SOURCES = src/programs/memtop-munge.c
memtop_munge_LDADD = $(PRODUCT)
bin_PROGRAMS += memtop-replay
memtop_replay_SOURCES = src/programs/memtop-replay.c
memtop_replay_LDADD = $(PRODUCT)

# Scripts that call memusage and memusagestat by name get ours.
if MEMUSAGE_NAMES
install-exec-hook:
	cd $(DESTDIR)$(bindir) && rm -f memusage memusagestat && \
	  $(LN_S) memtop memusage && $(LN_S) memtopstat memusagestat
uninstall-hook:
	cd $(DESTDIR)$(bindir) && rm -f memusage memusagestat
endif
