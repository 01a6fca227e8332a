/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Types and functions that the files of the command share: options and
 * commands.
 */
#ifndef COMMAND_CLI_H
#define COMMAND_CLI_H

#include <ibsa/ibsa.h>
#include <ibsa/sim.h>

#include "base/complain.h"
#include "output/option_groups.h"
#include "output/out.h"

struct interrupt;

/**
 * struct cli - one run of the command
 * @open:    options for opening the client; its strings are those of argv
 * @sa, @output, @record, @picture, @gids, @check, @metrics, @path, @reach,
 * @service, @topology, @trace, @watch, @fabric: options by subject
 * @all:     --all is given; several commands have this option
 * @why:     --why is given, for path or reach
 * @given:   which options are given: bit N for row N of option_table.c
 * @help, @version: the option --help or --version is given
 * @args:    the arguments without options; the first is the command
 * @arg_count: number of @args
 * @out:     standard output
 * @client:  opened by client_open(), closed by main()
 * @interrupt: signals that the command handles: a signal ends the wait for a
 *           reply; NULL if a signal ends the process
 */
struct cli {
	struct ibsa_options open;
	struct sa_options sa;
	struct output_options output;
	struct record_options record;
	struct picture_options picture;
	struct gids_options gids;
	struct check_options check;
	struct metrics_options metrics;
	struct path_options path;
	struct reach_options reach;
	struct service_options service;
	struct topology_options topology;
	struct trace_options trace;
	struct watch_options watch;
	struct fabric_options fabric;
	bool all;
	bool why;
	uint64_t given;
	bool help;
	bool version;
	char **args;
	int arg_count;
	struct out out;
	struct ibsa_client *client;
	struct interrupt *interrupt;
};

/**
 * struct command - a row of the command table
 * @name:      name of the command
 * @arguments: its arguments as the usage line shows them
 * @help:      one line for the list of commands
 * @options:   options that it accepts besides the common ones, separated by
 *             blanks
 * @run:       runs the command and returns its exit status
 * @details:   prints what --help adds after the options, or NULL
 * @can_help:  checks the command's arguments when --help is given, and returns
 *             the exit status; or NULL
 * @part_help: prints the help of the part of the command that the arguments
 *             name, such as serve of ibsa fabric; returns false if they name
 *             none; NULL: the command has no parts with a help of their own
 * @part_takes: whether any part of the command accepts the option; NULL:
 *             @options has all options of the command
 * @refused:   options that all commands have, but not this one; or NULL
 */
struct command {
	const char *name;
	const char *arguments;
	const char *help;
	const char *options;
	int (*run)(struct cli *cli);
	void (*details)(struct cli *cli);
	int (*can_help)(struct cli *cli);
	bool (*part_help)(struct cli *cli);
	bool (*part_takes)(const char *option);
	const char *refused;
};

int cmd_check(struct cli *cli);
void cmd_check_details(struct cli *cli);
int cmd_devices(struct cli *cli);
int cmd_env(struct cli *cli);
void cmd_env_details(struct cli *cli);
int cmd_fabric(struct cli *cli);
int cmd_fabric_can_help(struct cli *cli);
void cmd_fabric_details(struct cli *cli);
bool cmd_fabric_part_help(struct cli *cli);
bool cmd_fabric_part_takes(const char *option);
int cmd_doctor(struct cli *cli);
void cmd_doctor_details(struct cli *cli);
int cmd_gids(struct cli *cli);
void cmd_gids_details(struct cli *cli);
int cmd_metrics(struct cli *cli);
void cmd_metrics_details(struct cli *cli);
int cmd_page(struct cli *cli);
void cmd_page_details(struct cli *cli);
int cmd_path(struct cli *cli);
void cmd_path_details(struct cli *cli);
int cmd_query(struct cli *cli);
int cmd_query_can_help(struct cli *cli);
void cmd_query_details(struct cli *cli);
int cmd_reach(struct cli *cli);
void cmd_reach_details(struct cli *cli);
int cmd_service(struct cli *cli);
int cmd_service_can_help(struct cli *cli);
void cmd_service_details(struct cli *cli);
int cmd_topology(struct cli *cli);
void cmd_topology_details(struct cli *cli);
int cmd_trace(struct cli *cli);
void cmd_trace_details(struct cli *cli);
int cmd_watch(struct cli *cli);
void cmd_watch_details(struct cli *cli);

/*
 * Print on stderr how to try an example fabric, on a machine without a device;
 * on others, which command checks the devices.
 */
void suggest_fabric(void);

/*
 * Print what a user can try next, for a command line without a command and
 * without a fabric.
 */
void suggest_start(const struct cli *cli);

/*
 * If this process uses a fabric server, open a port of this server, to find out
 * why opening a port fails. Return: 0: it succeeds, or no fabric server is
 * used; otherwise a negative errno, with the reason in @out. -ENODEV: the
 * fabric has no such node; -ENXIO: the node has no such port.
 */
int server_failure(struct ibsa_error *out);

/*
 * Whether the fabric server does not answer within --timeout; if so, print
 * that. The server is checked first, because reading devices through the
 * library has no timeout that a caller can set.
 */
bool server_is_silent(const struct cli *cli);

/* Whether @fabric, which is not NULL, names a fabric server. */
bool fabric_is_server(const char *fabric);

/* Whether sysfs has no directory for the kernel's RDMA devices. */
bool sysfs_is_empty(void);

/*
 * Write why this machine has no device, or why its devices cannot be read. @err
 * is 0 or the error from reading them.
 */
void no_device_text(int err, struct ibsa_error *out);

/*
 * Print why no device was found or why devices cannot be read, and what to try.
 * @err: 0, or the error from reading the devices. Return: the exit status.
 */
int no_device_explain(int err);

/*
 * Print the library's error text; if it has none, the system's text for @err.
 * Return: the exit status.
 */
int error_explain(int err, const struct ibsa_error *error);

/*
 * As error_explain(), for a topology file that could not be loaded; also print
 * where the installed example of its name is.
 */
int fabric_error_explain(int err, const struct ibsa_error *error,
			 const char *fabric);

/*
 * If --fabric names a fabric server, use its device as this machine's device.
 * Return: the exit status.
 */
int fabric_server_use(struct cli *cli);

/*
 * Return: the topology file of --fabric or IBSA_FABRIC; NULL if there is none.
 * For a fabric server it is NULL, too, because its device is used as a device
 * of this machine.
 */
const char *fabric_file(const struct cli *cli);

#endif
