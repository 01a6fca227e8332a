/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the commands share: one run of a command, and functions that explain
 * failures.
 */
#ifndef COMMAND_CLI_H
#define COMMAND_CLI_H

#include <ibsa/ibsa.h>
#include <ibsa/fabric.h>

#include "base/complain.h"
#include "output/option_groups.h"
#include "output/out.h"

struct interrupt;

struct command;
struct options;

/**
 * struct query_silence - the last query to which the SA gave no usable answer
 * @err, @status, @tries: as in struct ibsa_reply
 */
struct query_silence {
	int err;
	uint16_t status;
	unsigned int tries;
};

/**
 * struct cli - one run of the command
 * @open:    options for opening the client; its strings are those of argv
 * @sa, @output, @record, @names: options that many commands have, by subject
 * @loaded:  the fabric that this process has loaded, or NULL
 * @plugin:  whether a line of a monitoring plugin is expected
 * @help, @version: the option --help or --version is given
 * @command: the row of the command that the arguments name, or NULL
 * @own:     the options that only this command has, in its own struct; NULL: it
 *           has none
 * @options: all options, and which are given
 * @args:    the arguments without options; the first is the command
 * @arg_count: number of @args
 * @out:     standard output
 * @client:  opened by client_open(), closed by main()
 * @interrupt: signals that the command handles: a signal ends the wait for a
 *           reply; NULL if a signal ends the process
 * @silence: set by query_wait()
 */
struct cli {
	struct ibsa_options open;
	struct sa_options sa;
	struct output_options output;
	struct record_options record;
	struct name_options names;
	struct ibsa_fabric *loaded;
	struct plugin_state plugin;
	bool help;
	bool version;
	const struct command *command;
	void *own;
	struct options *options;
	char **args;
	int arg_count;
	struct out out;
	struct ibsa_client *client;
	struct interrupt *interrupt;
	struct query_silence silence;
};

/*
 * Print on stderr, on a machine without a device, how to try an example fabric;
 * on another machine, which command checks the devices.
 */
void suggest_fabric(void);

/* Whether this machine, or the host of a fabric server, has a device. */
bool machine_has_device(void);

/* Print what a user can try next on a machine without a device. */
void suggest_start(void);

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
 * Write why this machine has no device (@err is 0), or why its devices cannot
 * be read (@err is the error from reading them).
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
 * As error_explain(), for a topology file that could not be loaded. If an
 * installed example has the same name, its path is printed, too.
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
