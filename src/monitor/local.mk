# What memtop knows of the watched program.  No curses, no gd.
noinst_LIBRARIES += src/monitor/libmonitor.a
src_monitor_libmonitor_a_SOURCES = \
	src/monitor/proc-reader.c src/monitor/proc-reader.h \
	src/monitor/rss-breakdown.c src/monitor/rss-breakdown.h \
	src/monitor/blockmap.c src/monitor/blockmap.h \
	src/monitor/blocksizes.c src/monitor/blocksizes.h \
	src/monitor/process-tracker.c src/monitor/process-tracker.h \
	src/monitor/checkpoints.c src/monitor/checkpoints.h \
	src/monitor/children.c src/monitor/children.h \
	src/monitor/ending.c src/monitor/ending.h \
	src/monitor/history.c src/monitor/history.h \
	src/monitor/merged.c src/monitor/merged.h \
	src/monitor/messages.c src/monitor/messages.h \
	src/monitor/meter.c src/monitor/meter.h \
	src/monitor/naming.c src/monitor/naming.h \
	src/monitor/system-list.c src/monitor/system-list.h \
	src/monitor/background-profiles.c src/monitor/background-profiles.h \
	src/monitor/process.c \
	src/monitor/profile-figures.c \
	src/monitor/profile-names.c \
	src/monitor/profile-private.h \
	src/monitor/profile-table.c src/monitor/profile-table.h \
	src/monitor/profile.c src/monitor/profile.h \
	src/monitor/process-list.c src/monitor/process-list.h \
	src/monitor/samples.c src/monitor/samples.h \
	src/monitor/saved.c src/monitor/saved.h \
	src/monitor/source.h \
	src/monitor/send.c src/monitor/send.h \
	src/monitor/session.c src/monitor/session.h \
	src/monitor/timeline.c src/monitor/timeline.h \
	src/monitor/together.c src/monitor/together.h \
	src/monitor/tracked.c src/monitor/tracked.h \
	src/monitor/tree.c src/monitor/tree.h \
	src/monitor/unseen.c src/monitor/unseen.h \
	src/monitor/usage.c src/monitor/usage.h \
	src/monitor/watch.c src/monitor/watch.h \
	src/monitor/wrappers.c src/monitor/wrappers.h

# The list of wrappers as an array of strings.
EXTRA_DIST += src/monitor/wrappers.list
CLEANFILES += src/monitor/wrappers-list.h
src/monitor/wrappers-list.h: src/monitor/wrappers.list
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	sed -e '/^#/d' -e '/^$$/d' -e 's/[\\"]/\\&/g' -e 's/.*/"&",/' \
	  $(srcdir)/src/monitor/wrappers.list >$@.new && mv $@.new $@
src/monitor/wrappers.$(OBJEXT): src/monitor/wrappers-list.h
