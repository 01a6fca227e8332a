/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs the fabric server as a process: ibsa fabric run. */
#ifndef MANY_SERVER_H
#define MANY_SERVER_H

#include <sys/types.h>

#include "many.h"

struct many_server {
	pid_t pid;
	char fabric[96]; /* "unix:PATH" */
};

/*
 * Start the fabric server in @folder, which contains the topology file "net";
 * its log is the file "log" there.
 */
bool many_server_start(struct many_server *server, const char *ibsa,
		       const char *folder, uint64_t seed);

/* Return: false: it did not end properly. */
bool many_server_stop(struct many_server *server);

/*
 * Send a command to the fabric server. Return: false: the command failed, and
 * its message is on standard error.
 */
bool many_command(const struct many_server *server, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Return: the counter @name of "ibsa fabric stats". */
uint64_t many_stat(const struct many_server *server, const char *name);

/* Resident memory of the server, without and in rings; -1: unknown. */
struct many_memory {
	long own_kb;
	long rings_kb;
};

struct many_memory many_memory_get(const struct many_server *server);
int many_open_files(const struct many_server *server);

#endif
