/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * glibc 2.34 merged libdl and libpthread into libc and gave their functions a
 * new symbol version; a library linked against it would refuse to load before
 * 2.34, and with it every program.  The old versions are still there: bind to
 * them.  The base version differs by architecture (glibc's abilist files).
 */
#ifndef MEMTOP_COMPAT_H
#define MEMTOP_COMPAT_H

#if defined __GLIBC__ && defined __x86_64__
#define MT_BASE_VERSION "GLIBC_2.2.5"
#define MT_DLADDR1_VERSION "GLIBC_2.3.3"
#elif defined __GLIBC__ && defined __aarch64__
#define MT_BASE_VERSION "GLIBC_2.17"
#define MT_DLADDR1_VERSION "GLIBC_2.17"
#endif

#ifdef MT_BASE_VERSION
#define MT_BIND(name, version) __asm__(".symver " #name "," #name "@" version)
#define MT_BIND_OLD(name) MT_BIND(name, MT_BASE_VERSION)
#else
#define MT_BIND(name, version) _Static_assert(1, "default version")
#define MT_BIND_OLD(name) _Static_assert(1, "default version")
#endif

#endif
