/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library that does nothing, to be preloaded instead of libmemtop.so.  Its
   thread-local memory takes an entry in each thread's table, as libmemtop's does. */
__thread char inert[64] __attribute__((tls_model("initial-exec")));
