/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric server, as a process of its own: ibsa fabric run. */
#ifndef MANY_SERVER_H
#define MANY_SERVER_H

#include <sys/types.h>

#include "many.h"

struct many_server {
	pid_t pid;
	char fabric[96]; /* "unix:PATH" */
};

/* In @folder, which has the file "net"; its log is "log" there. */
bool many_server_start(struct many_server *server, const char *ibsa,
		       const char *folder, uint64_t seed);

/* False: it did not end as it should. */
bool many_server_stop(struct many_server *server);

/* False: it says no, which is written to standard error. */
bool many_command(const struct many_server *server, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* One of ibsa fabric stats. */
uint64_t many_stat(const struct many_server *server, const char *name);

long many_rss_kb(const struct many_server *server);
int many_open_files(const struct many_server *server);

#endif
