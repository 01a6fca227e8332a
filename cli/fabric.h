/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of ibsa fabric share. */
#ifndef CLI_FABRIC_H
#define CLI_FABRIC_H

#include <ibsa/sim.h>

#include "cli.h"

/* Options of a fabric: all that fabric_load() looks at. */
#define FABRIC_OPTIONS \
	"fault first-lid opa partitions record sa sa-at seed sm-profile"

/*
 * Load the fabric that the first argument names into @cli->fabric, with its
 * faults and its record, as the options say. Return: the exit status; what
 * went wrong has been said.
 */
int fabric_load(struct cli *cli);

/* What there is to choose from, for --help. */
void fabric_options_details(struct out *out);

/* The same with such options and nothing else, for the caller to put. */
int fabric_read(struct cli *cli, const struct ibsa_fabric_options *options,
		struct ibsa_fabric **out);

/* What is in a topology, and what is wrong with it. Return: the exit status. */
int fabric_info(struct cli *cli);
void fabric_info_details(struct out *out);

/* Serve a topology to other processes until a signal comes. */
int fabric_run(struct cli *cli);

/* The same of the answers in a capture. */
int fabric_replay(struct cli *cli);

/* The same as fabric_run() for as long as a command runs; its exit status. */
int fabric_exec(struct cli *cli);

/* A line of text for a server: the action's words as they are. */
int fabric_control(struct cli *cli);
int fabric_stats(struct cli *cli);

/* Such lines from a file, each at its time. */
int fabric_script(struct cli *cli);

/* What a served fabric says when it is changed; more for --help. */
void fabric_run_details(struct out *out);
void fabric_replay_details(struct out *out);
void fabric_exec_details(struct out *out);
void fabric_control_details(struct out *out);
void fabric_fault_details(struct out *out);
void fabric_script_details(struct out *out);

/*
 * Whether it is fabric exec that was called, without the -- that keeps the
 * options of its command apart.
 */
bool fabric_runs_command(char **argv);

#define FABRIC_PATH_MAX 108

/* Where a server is if nobody says where. False: nowhere. */
bool fabric_default_socket(char out[FABRIC_PATH_MAX]);

/* A path that the user did not name is used if no other user can be there.
 * Return: the exit status. */
int fabric_default_check(const char *path);

/*
 * Let its SA answer at a port of this machine, until a signal ends it.
 * Return: the exit status.
 */
int fabric_serve(struct cli *cli);
void fabric_serve_details(struct out *out);

#endif
