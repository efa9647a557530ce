# Measurements beside memtop's peers (make bench), large numbers of threads, processes and
# blocks (make scale), real programs (make real) and servers (make servers), and tests that
# depend on chance (make harm).
EXTRA_PROGRAMS = bench/load bench/load-cxx bench/spawn bench/drain bench/trace bench/display \
	bench/empty.so bench/crowd bench/look bench/blocks \
	bench/harm bench/cxx
bench_load_SOURCES = bench/load.c bench/load.h bench/phases.c
bench_load_CFLAGS = -std=gnu11 $(WARNINGS) -O2 -fno-builtin
bench_load_LDADD = -lpthread
bench_load_cxx_SOURCES = bench/load.c bench/load.h bench/phases.c bench/phases-cxx.cc
bench_load_cxx_CFLAGS = $(bench_load_CFLAGS)
bench_load_cxx_CXXFLAGS = -std=c++17 -Wall -Wextra -O2 -fno-builtin
bench_load_cxx_LDADD = $(bench_load_LDADD)
bench_spawn_SOURCES = bench/spawn.c
bench_spawn_CFLAGS = -std=gnu11 $(WARNINGS) -O2
bench_spawn_LDADD =
bench_drain_SOURCES = bench/drain.c
bench_drain_LDADD = $(PRODUCT)
bench_drain_CFLAGS = -std=gnu11 $(WARNINGS) -O2
bench_trace_SOURCES = bench/trace.c
bench_trace_LDADD = $(PRODUCT)
bench_trace_CFLAGS = -std=gnu11 $(WARNINGS) -O2
bench_crowd_SOURCES = bench/crowd.c
bench_crowd_CFLAGS = -std=gnu11 $(WARNINGS) -O2 -fno-builtin-malloc -fno-builtin-free
bench_crowd_LDADD = -lpthread
bench_look_SOURCES = bench/look.c
bench_look_LDADD = $(PRODUCT)
bench_look_CFLAGS = -std=gnu11 $(WARNINGS) -O2
bench_blocks_SOURCES = bench/blocks.c
bench_blocks_LDADD = $(PRODUCT)
bench_blocks_CFLAGS = -std=gnu11 $(WARNINGS) -O2
bench_display_SOURCES = bench/display.c
bench_display_CFLAGS = -std=gnu11 $(WARNINGS) -O2
bench_display_LDADD =
bench_empty_so_SOURCES = bench/empty.c
bench_empty_so_CFLAGS = -std=gnu11 $(WARNINGS) -O2 -fPIC -fno-builtin-malloc
bench_empty_so_LDFLAGS = -shared
bench_empty_so_LDADD =
bench_harm_SOURCES = bench/harm.c
bench_harm_CFLAGS = -std=gnu11 $(WARNINGS) -O2
bench_harm_LDADD = -lpthread
bench_cxx_SOURCES = bench/cxx.cc
bench_cxx_CXXFLAGS = -std=c++17 -Wall -Wextra -O2
bench_cxx_LDADD = -lpthread

bench: all bench/load$(EXEEXT) bench/load-cxx$(EXEEXT) bench/spawn$(EXEEXT) bench/drain$(EXEEXT) \
		bench/trace$(EXEEXT) bench/display$(EXEEXT) bench/empty.so
	@$(srcdir)/bench/run.sh $(abs_builddir) $(BENCHFLAGS)
real: all bench/harm$(EXEEXT) bench/cxx$(EXEEXT)
	@$(srcdir)/bench/real.sh $(abs_builddir) $(REAL)
peers: all
	@$(srcdir)/bench/peers.sh $(abs_builddir) $(PROGRAM)
scale: all bench/crowd$(EXEEXT) bench/look$(EXEEXT) bench/blocks$(EXEEXT) bench/display$(EXEEXT)
	@$(srcdir)/bench/scale.sh $(abs_builddir)
harm: all check-programs
	@$(srcdir)/bench/harm.sh $(abs_builddir) $(HARM)
servers: all
	@$(srcdir)/bench/servers.sh $(abs_builddir) $(SERVERS)
check-programs: $(check_DATA)
.PHONY: bench peers real scale harm servers check-programs

CLEANFILES += $(EXTRA_PROGRAMS)
EXTRA_DIST += bench/run.sh bench/trace.sh bench/peers.sh bench/real.sh bench/scale.sh bench/harm.sh bench/servers.sh
