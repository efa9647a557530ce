/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of argp itself. argp looks up their translations in memtop's catalogue; this
   list, which nothing includes, puts them there. */
/* TRANSLATORS: messages of argp itself; keep leading blanks. */
N_("Usage:")
N_("  or: ")
N_(" [OPTION...]")
N_("Give this help list")
N_("Give a short usage message")
N_("Print program version")
N_("Mandatory or optional arguments to long options are also mandatory or "
   "optional for any corresponding short options.")
N_("Try `%s --help' or `%s --usage' for more information.\n")
N_("Report bugs to %s.\n")
N_("%s: Too many arguments\n")
