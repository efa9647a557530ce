/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * server FILE [children [uid]]: holds 10 MB and calls malloc now and then as long as
 * FILE exists; creates FILE.ready when it has begun.  With children, it forks that many
 * processes first, which do the same, like workers of a pre-forking server; with uid,
 * they change to that user.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    static void *held[1000];
    int children = argc > 2 ? atoi(argv[2]) : 0;
    char ready[4096];

    for (int i = 0; i < 1000; i++)
        held[i] = memset(malloc(10000), 1, 10000);
    for (int i = 0; i < children; i++)
        if (fork() == 0) {
            children = 0;
            break;
        }
    snprintf(ready, sizeof ready, "%s.ready", argv[1]);
    fclose(fopen(ready, "w"));
    if (argc > 3 && children == 0 && setuid((uid_t)atoi(argv[3])) < 0)
        return 4;
    while (access(argv[1], F_OK) == 0) {
        free(malloc(100));
        usleep(10000);
    }
    while (children > 0 && wait(NULL) > 0)
        ;
    for (int i = 0; i < 1000; i++)
        free(held[i]);
    return 3;
}
