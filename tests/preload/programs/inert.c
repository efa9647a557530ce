/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library that does nothing, to be preloaded instead of ours.  Its thread-local memory
   takes a place in each thread's table, as ours does. */
__thread char inert[64] __attribute__((tls_model("initial-exec")));
