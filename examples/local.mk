# Programs to try memtop on.
noinst_PROGRAMS += examples/tour
examples_tour_SOURCES = examples/tour.c
examples_tour_CFLAGS = -std=gnu11 $(WARNINGS) -pthread
examples_tour_LDFLAGS = -pthread
