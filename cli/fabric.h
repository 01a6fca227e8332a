/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that the files of ibsa fabric share. */
#ifndef CLI_FABRIC_H
#define CLI_FABRIC_H

#include <ibsa/sim.h>

#include "cli.h"

/* The options that fabric_load() uses. */
#define FABRIC_OPTIONS \
	"fault first-lid opa partitions record sa sa-at seed sm-profile"

/*
 * Load the topology file of the first argument into @cli->fabric.loaded, with the
 * faults and the recording that the options give. Return: the exit status; a
 * failure is printed.
 */
int fabric_load(struct cli *cli);

/* Print the values of these options, for --help. */
void fabric_options_details(struct out *out);

/*
 * Like the function above with all options of the command, but uses only
 * @options; the caller frees @out.
 */
int fabric_read(struct cli *cli, const struct ibsa_fabric_options *options,
		struct ibsa_fabric **out);

/*
 * List the contents of a topology file and findings. Return: the exit status.
 */
int fabric_info(struct cli *cli);
void fabric_info_details(struct out *out);

/* Serve a topology to other processes until a signal arrives. */
int fabric_run(struct cli *cli);

/* Like fabric_run(), with the answers of a capture. */
int fabric_replay(struct cli *cli);

/*
 * Like fabric_run(), while a command runs. Return: the command's exit status.
 */
int fabric_exec(struct cli *cli);

/* Send the action and its arguments to a server as a line of text. */
int fabric_control(struct cli *cli);
int fabric_stats(struct cli *cli);

/* Send the command lines of a file to a server, each at its time. */
int fabric_script(struct cli *cli);

/* Print the details of an action, for --help. */
void fabric_run_details(struct out *out);
void fabric_replay_details(struct out *out);
void fabric_exec_details(struct out *out);
void fabric_control_details(struct out *out);
void fabric_fault_details(struct out *out);
void fabric_script_details(struct out *out);

/*
 * Whether the command is fabric exec without the -- that must separate the
 * options of its command.
 */
bool fabric_runs_command(char **argv);

#define FABRIC_PATH_MAX 108

/* The default path of a server's socket. Return: false if it is too long. */
bool fabric_default_socket(char out[FABRIC_PATH_MAX]);

/*
 * Check that no other user controls the default path. Return: the exit status; a
 * failure is printed.
 */
int fabric_default_check(const char *path);

/*
 * Let the fabric's SA answer at a port of this machine until a signal arrives.
 * Return: the exit status.
 */
int fabric_serve(struct cli *cli);
void fabric_serve_details(struct out *out);

#endif
