# libmemtop.so: what runs inside the watched process.  Nothing but libc.
preload_PROGRAMS += libmemtop.so
libmemtop_so_SOURCES = \
	src/preload/wrappers.c src/preload/realloc.c src/preload/aligned.c src/preload/cxx.c src/preload/mappings.c \
	src/preload/blocks.c src/preload/blocks.h src/preload/hooks.c src/preload/hooks.h \
	src/preload/uncounted.c src/preload/uncounted.h \
	src/preload/sandbox.c src/preload/exec.c src/preload/public.h \
	src/preload/real.c src/preload/real.h src/preload/operators.c src/preload/operators.h \
	src/preload/lookup.c src/preload/lookup.h \
	src/preload/account.c src/preload/account.h src/preload/fold.c src/preload/fold.h \
	src/preload/trailer.h \
	src/preload/sizes.c src/preload/sizes.h src/preload/shadow.c src/preload/shadow.h \
	src/preload/shard.c src/preload/shard.h \
	src/preload/dormant.c src/preload/dormant.h \
	src/preload/recorder.c src/preload/recorder.h src/preload/windows.c src/preload/windows.h \
	src/preload/ring/ring.c src/preload/ring/ring.h \
	src/preload/ring/recorded.c src/preload/ring/recorded.h \
	src/preload/log/log.c src/preload/log/log.h \
	src/preload/sites/sample.c src/preload/sites/sample.h \
	src/preload/sites/sites.c src/preload/sites/sites.h src/preload/sites/stacks.c src/preload/sites/stacks.h \
	src/preload/sites/budget.c src/preload/sites/budget.h \
	src/preload/sites/growing.c src/preload/sites/growing.h src/preload/sites/index.c src/preload/sites/index.h \
	src/preload/sites/unload.c src/preload/sites/unwind.c src/preload/sites/unwind.h \
	src/preload/internal.h \
	src/preload/sites/steps.c src/preload/sites/steps.h src/preload/sites/arch.h \
	src/preload/sites/cfi.c src/preload/sites/cfi.h \
	src/preload/sites/objects.c src/preload/sites/objects.h \
	src/preload/sites/accessor.c src/preload/sites/accessor.h \
	src/preload/sites/python.c src/preload/sites/python.h src/preload/sites/python-place.c \
	src/preload/sites/python-layout.c src/preload/sites/python-layout.h src/preload/sites/python-private.h \
	src/preload/sites/frames.c src/preload/sites/frames.h \
	src/segment/rate.c src/segment/rate.h src/segment/sampling.h \
	src/preload/options.c src/preload/options.h src/preload/publish.c src/preload/publish.h \
	src/preload/memprof/memprof.c src/preload/memprof/profile.c src/preload/memprof/profile.h \
	src/preload/draw.c src/preload/draw.h src/preload/table.c src/preload/table.h \
	src/preload/start.c src/preload/start.h src/preload/fork.c src/preload/fork.h \
	src/preload/baseline.c src/preload/baseline.h src/preload/clock.c src/preload/clock.h \
	src/preload/ticks.c src/preload/ticks.h \
	src/preload/state.c src/preload/state.h \
	src/segment/names.c src/segment/names.h \
	src/segment/logline.c src/segment/logline.h \
	src/segment/layout.h src/segment/sites-layout.h src/segment/seqlock.h src/segment/live.h src/base/figures.h

# No sanitizers here: they would need their runtime in every program.
#   -fvisibility=hidden        only the wrappers are public
libmemtop_so_CFLAGS = -std=gnu11 $(WARNINGS) -fPIC -fvisibility=hidden

# What a packager's CFLAGS must not undo comes after them, by GNU make's means.
#   -O2                        functions that enter each other by jumps: else who called is
#                              lost, and the stack is measured deeper than it was
#   -fomit-frame-pointer       fast paths without a frame
#   -fasynchronous-unwind-tables
#                              a walk begins in our frames (sites/unwind.c)
#   -ftls-model=initial-exec   any other TLS allocates on first use
#   -fno-builtin-malloc ...    gcc must not make calloc of malloc and memset,
#                              nor drop calls it believes it knows
#   -fno-stack-protector, -U_FORTIFY_SOURCE
#                              their failure paths print and abort
#   -fno-math-errno            a square root is an instruction, not a call of libm
#   -fexceptions               bad_alloc passes through operator new
#   -fno-lto                   the flags above stay those of each file
PRELOAD_CFLAGS = -O2 -fomit-frame-pointer -fasynchronous-unwind-tables \
	-ftls-model=initial-exec -fno-stack-protector \
	-fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc \
	-fno-builtin-free -fno-builtin-aligned_alloc \
	-U_FORTIFY_SOURCE -fno-math-errno -fexceptions -fno-lto
src/preload/libmemtop_so-%.o src/preload/sites/libmemtop_so-%.o \
src/preload/memprof/libmemtop_so-%.o src/preload/log/libmemtop_so-%.o \
src/preload/ring/libmemtop_so-%.o src/segment/libmemtop_so-%.o: override CFLAGS += $(PRELOAD_CFLAGS)
#   -z now       no lazy binding inside a signal handler
#   -z defs      every symbol must be there when the library is made
libmemtop_so_LDADD =
libmemtop_so_LDFLAGS = -shared -Wl,-soname,libmemtop.so \
	-Wl,--version-script=$(srcdir)/src/preload/libmemtop.map \
	-Wl,-z,now -Wl,-z,relro -Wl,-z,defs

# The loader finds it by its name (LD_PRELOAD=libmemtop.so) once its cache has it; packages
# see to that themselves.
install-data-hook: tell-loader
tell-loader:
	@if test -z '$(DESTDIR)' && test "$$(id -u)" = 0; then \
	  PATH="$$PATH:/sbin:/usr/sbin" ldconfig || :; fi
.PHONY: tell-loader
EXTRA_libmemtop_so_DEPENDENCIES = $(srcdir)/src/preload/libmemtop.map
EXTRA_DIST += src/preload/libmemtop.map
