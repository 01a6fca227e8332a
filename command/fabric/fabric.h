/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that the files of ibsa fabric share. */
#ifndef COMMAND_FABRIC_H
#define COMMAND_FABRIC_H

#include <ibsa/fabric.h>

#include "options/option.h"
#include "output/cli.h"

struct columns;

/* The parts of ibsa fabric whose options differ. */
enum fabric_part {
	FABRIC_RUN = 1 << 0,
	FABRIC_EXEC = 1 << 1,
	FABRIC_REPLAY = 1 << 2,
	FABRIC_SERVE = 1 << 3,
	FABRIC_CONTROL = 1 << 4, /* changes a running fabric server */
	/* Those that call fabric_load(). */
	FABRIC_LOADS = FABRIC_RUN | FABRIC_EXEC | FABRIC_SERVE,
	/* Those that run a fabric server. */
	FABRIC_SERVES = FABRIC_RUN | FABRIC_EXEC | FABRIC_REPLAY,
};

extern const struct option_table fabric_table;
extern const struct columns columns_fabric_stats;

/*
 * Return: the value of --socket or --umad, or NULL. A file that needs no other
 * option is not compiled again when an option changes.
 */
const char *fabric_socket(const struct cli *cli);
const char *fabric_umad(const struct cli *cli);

/*
 * Load the topology file of the first argument into @cli->loaded, with
 * the faults and the recording in the options. Return: the exit status; a
 * failure is printed.
 */
int fabric_load(struct cli *cli);

/* Print the forms of --fault and the values of --sm-profile, for --help. */
void fabric_options_details(struct out *out);

/* Run a fabric server for a topology file until a signal arrives. */
int fabric_run(struct cli *cli);

/*
 * Run a fabric server that returns the answers of a capture, until a signal
 * arrives.
 */
int fabric_replay(struct cli *cli);

/*
 * Run a fabric server while a command runs. Return: the command's exit status,
 * or 128 plus the number of the signal that ended the command; if the server
 * fails, the exit status of this failure.
 */
int fabric_exec(struct cli *cli);

/* Send an action and its arguments to a fabric server as a line of text. */
int fabric_control(struct cli *cli);
int fabric_stats(struct cli *cli);

/* Provide the device files of a host in a directory until a signal arrives. */
int fabric_sysfs(struct cli *cli);
extern const struct columns columns_fabric_sysfs;

/* How often, in ms, the device files are compared with the fabric. */
enum { FABRIC_SYSFS_MS = 200 };

/* Send the command lines in a file to a fabric server, each at its time. */
int fabric_script(struct cli *cli);

#define FABRIC_PATH_MAX 108

/*
 * Find the server of a command: that of --socket, otherwise that of IBSA_FABRIC,
 * otherwise the default. @room has room for its name. Return: the exit status; a
 * failure is printed.
 */
int fabric_server_find(const struct cli *cli, char room[FABRIC_PATH_MAX + 8],
		       const char **out);

/*
 * Write the default path of a fabric server's socket into @out. Return: false
 * if the path is too long.
 */
bool fabric_default_socket(char out[FABRIC_PATH_MAX]);

/*
 * Check that the default path of a fabric server's socket exists, and that no
 * other user controls it. Return: the exit status; a failure is printed.
 */
int fabric_default_check(const char *path);

/*
 * Let the SA of an embedded fabric answer at a port of this machine until a
 * signal arrives. Return: the exit status.
 */
int fabric_serve(struct cli *cli);

#endif
