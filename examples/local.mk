# Programs to try memtop on.
noinst_PROGRAMS += examples/tour
examples_tour_SOURCES = examples/tour.c
examples_tour_CFLAGS = -std=gnu11 $(WARNINGS) -pthread
examples_tour_LDFLAGS = -pthread
examples_tour_LDADD =

# A profiler of a program's own; its functions have names for dladdr().
noinst_PROGRAMS += examples/profiler
examples_profiler_SOURCES = examples/profiler.c
examples_profiler_CFLAGS = -std=gnu11 $(WARNINGS) -pthread
examples_profiler_LDFLAGS = -pthread -rdynamic
examples_profiler_LDADD = $(DL_LIBS)

# A pool in front of malloc, for both views of memtop --report --blocks.
noinst_PROGRAMS += examples/pool
examples_pool_SOURCES = examples/pool.c
examples_pool_CFLAGS = -std=gnu11 $(WARNINGS)
examples_pool_LDADD = $(DL_LIBS)
