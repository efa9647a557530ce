# The display.  Only this folder includes curses.
noinst_LIBRARIES += src/tui/libtui.a
src_tui_libtui_a_CFLAGS = $(AM_CFLAGS) $(NCURSESW_CFLAGS)
src_tui_libtui_a_SOURCES = \
	src/tui/app.c src/tui/app.h \
	src/tui/blocks.c src/tui/blocks.h \
	src/tui/canvas.c src/tui/canvas.h \
	src/tui/chart.c \
	src/tui/command.c \
	src/tui/crash.c src/tui/crash.h \
	src/tui/cursor.c \
	src/tui/dump.c src/tui/dump.h \
	src/tui/find.c \
	src/tui/follow.c \
	src/tui/frame.c \
	src/tui/graph.c src/tui/graph.h \
	src/tui/keys.c src/tui/keys.h \
	src/tui/layout.c src/tui/layout.h \
	src/tui/list.h \
	src/tui/look.c \
	src/tui/loop.h \
	src/tui/message.c \
	src/tui/mouse.c \
	src/tui/pages.c src/tui/pages.h \
	src/tui/picker.c src/tui/picker.h \
	src/tui/processes.c src/tui/processes.h \
	src/tui/prompt.c \
	src/tui/sampling.c \
	src/tui/save.c \
	src/tui/search.c src/tui/search.h \
	src/tui/since.c src/tui/since.h \
	src/tui/site-rows.c \
	src/tui/sites.c src/tui/sites.h \
	src/tui/sort.c src/tui/sort.h \
	src/tui/speak.c \
	src/tui/state.h \
	src/tui/table.c src/tui/table.h \
	src/tui/target.c \
	src/tui/term.c src/tui/term.h \
	src/tui/view-blocks.c \
	src/tui/view-calls.c \
	src/tui/view-help.c \
	src/tui/view-memory.c \
	src/tui/view-messages.c \
	src/tui/view-output.c \
	src/tui/view-overview.c \
	src/tui/view-picker.c \
	src/tui/view-processes.c \
	src/tui/view-site.c \
	src/tui/view-sites.c \
	src/tui/view-sizes.c \
	src/tui/view-threads.c \
	src/tui/view.c src/tui/view.h
