/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sampled allocations of a made-up process: the lines "sites" and "site" of a script
   (script.h).  All arrays are bounded; addresses are made up too. */
#ifndef MEMTOP_TESTS_SCRIPT_SITES_H
#define MEMTOP_TESTS_SCRIPT_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/profile.h"

struct script_sites;

struct script_sites *script_sites_new(void);
void script_sites_free(struct script_sites *sites);

/* Play what follows the word "sites" or "site"; false if it does not parse. */
bool script_sites_all(struct script_sites *sites, const char *line);
bool script_sites_one(struct script_sites *sites, const char *line);

/* Makes a copy, like sites_read().  Returns false if nothing is sampled, or memory is
   short. */
bool script_sites_read(const struct script_sites *sites, struct sites_reading *reading);

/* The script's names of functions. */
struct profile_namer script_sites_namer(struct script_sites *sites);

#endif
