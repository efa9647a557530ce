# The one public header; nothing is linked for it.
memtopincludedir = $(includedir)/memtop
memtopinclude_HEADERS = include/memtop/memprof.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = include/memtop.pc
