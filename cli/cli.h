/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the command share: options, exit status, commands. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <ibsa/ibsa.h>
#include <ibsa/sim.h>

#include "out.h"

/* Exit status of the command. */
enum cli_exit {
	CLI_DONE = 0,
	CLI_NO = 1,	 /* the answer is no: no path, no record */
	CLI_USAGE = 2,	 /* the command line was wrong */
	CLI_SILENT = 3,	 /* no usable answer came */
	CLI_DEVICE = 4,	 /* no device, not permitted, output not written */
	CLI_REFUSED = 5, /* the SA said no */
};

enum { CLI_FAULTS_MAX = 16 };

/**
 * struct cli - one run of the command
 * @open:    how to open the client; its strings are argv's
 * @sa:      the address that @open.access.sa points to if --sa was given
 * @sa_has_sl: it says with which SL
 * @lease:   of a service, in seconds; 0 if not given
 * @renew:   renew the service while the command runs
 * @address: that --for gave, as it was written; NULL if not given
 * @address_gid: the same as a GID
 * @dot:     where a drawing for Graphviz goes; NULL: there is none
 * @svg:     where a picture goes; NULL: there is none
 * @record_path: where all that is on the fabric is written; NULL: nowhere
 * @record:  writes it
 * @audit_nodes: a watch reads the table of nodes, too
 * @fabric:  that this process has loaded, for as long as it runs; or NULL
 * @socket:  of a fabric server; NULL: where one is by default
 * @sa_mode: what --sa says of a fabric: "embedded" or "none"; NULL: nothing
 * @sa_at:   node that a fabric's SA runs on; NULL: the first adapter
 * @seed:    of what a fabric does at random, if @has_seed
 * @first_lid: that a fabric gives; 0: where it begins by default
 * @like:    whose manners a fabric's SA has
 * @partitions: file that says who has which P_Key; NULL: all have the default
 * @opa:     a fabric's links are of Omni-Path
 * @faults:  KIND=PERCENT[,COUNT[,DELAY]], @fault_count of them
 * @umad:    device of this machine, and its port, at which to serve; NULL if
 *           not given
 * @all_pairs: a path between each port of one host and each of the other
 * @given:   which options are given, a bit for each row of option_table.c
 * @json, @verbose, @all, @matrix, @help, @version: options that are given or
 *           not
 * @args:    what is left of the command line, the command's name first
 * @arg_count: of them
 * @out:     standard output
 * @client:  opened by the first ask(); closed by main()
 */
struct cli {
	struct ibsa_options open;
	struct ibsa_address sa;
	bool sa_has_sl;
	uint32_t lease;
	bool renew;
	const char *address;
	struct ibsa_gid address_gid;
	bool json;
	bool verbose;
	bool all;
	bool matrix;
	bool all_pairs;
	bool audit_nodes;
	const char *dot;
	const char *svg;
	const char *record_path;
	struct record *record;
	struct ibsa_fabric *fabric;
	const char *socket;
	const char *sa_mode;
	const char *sa_at;
	uint64_t seed;
	bool has_seed;
	uint32_t first_lid;
	enum ibsa_sm_profile profile;
	const char *partitions;
	bool opa;
	const char *faults[CLI_FAULTS_MAX];
	int fault_count;
	const char *umad;
	uint64_t given;
	bool help;
	bool version;
	char **args;
	int arg_count;
	struct out out;
	struct ibsa_client *client;
};

/**
 * struct command - a row of the command table
 * @name:      matched whole
 * @arguments: as usage shows them
 * @help:      one line
 * @options:   the options it takes besides those that every command takes:
 *             names with a blank between them
 * @run:       returns the exit status
 * @details:   more for --help, or NULL
 * @can_help:  whether there is help for the arguments; returns the exit
 *             status; NULL: for all
 * @part_help: the whole of --help for the part of it that the arguments name;
 *             false: they name none; or NULL
 * @part_takes: whether any part of it takes the option of that name; NULL:
 *             @options are all
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
};

int cmd_devices(struct cli *cli);
int cmd_fabric(struct cli *cli);
int cmd_fabric_can_help(struct cli *cli);
void cmd_fabric_details(struct cli *cli);
bool cmd_fabric_part_help(struct cli *cli);
bool cmd_fabric_part_takes(const char *option);
int cmd_doctor(struct cli *cli);
void cmd_doctor_details(struct cli *cli);
int cmd_gids(struct cli *cli);
void cmd_gids_details(struct cli *cli);
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
int cmd_watch(struct cli *cli);
void cmd_watch_details(struct cli *cli);

/* Where the example fabrics are and which to try; to standard error. */
void suggest_fabric(void);

/*
 * Whether the process's devices are a fabric server's and cannot be had;
 * @out says why, and what to do.
 */
bool server_is_wrong(struct ibsa_error *out);

/*
 * Whether a fabric server does not answer in the time of --timeout, which is
 * then said. Reading devices has no bound that a caller can set.
 */
bool server_is_silent(const struct cli *cli);

/* Whether a fabric is named that is a server's; not NULL. */
bool fabric_is_server(const char *fabric);

/* Whether the kernel shows nothing at all where its devices are looked for. */
bool sysfs_is_empty(void);

/*
 * There is no device, or devices cannot be read: why, and what to try. @err is
 * 0 or what reading them said. Return: the exit status.
 */
int no_device_explain(int err);

/* What the library has said of an error, or the system. The exit status. */
int error_explain(int err, const struct ibsa_error *error);

/* Take up the server that --fabric names, if it does. The exit status. */
int fabric_server_use(struct cli *cli);

/*
 * Which topology file stands for a device: --fabric, IBSA_FABRIC, or NULL.
 * What a fabric server shows is a device like any other.
 */
const char *fabric_file(const struct cli *cli);

#endif
