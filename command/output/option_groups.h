/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of the commands, a struct for each subject. A new command adds
 * its own struct here and a member to struct cli.
 */
#ifndef COMMAND_OPTION_GROUPS_H
#define COMMAND_OPTION_GROUPS_H

#include <ibsa/ibsa.h>
#include <ibsa/sim.h>

#include "base/rate.h"

enum { CLI_FAULTS_MAX = 16, CLI_PKEYS_MAX = 16 };

/**
 * struct sa_options - the SA to which the client sends queries
 * @address: address of --sa; struct ibsa_options points to it if --sa is given
 * @has_sl:  --sa contains an SL
 * @key_file: file of --sm-key, or NULL
 */
struct sa_options {
	struct ibsa_address address;
	bool has_sl;
	const char *key_file;
};

/**
 * struct output_options - how a command writes its rows
 * @json, @ndjson, @csv: output format; at most one is true
 * @verbose: write all fields, each on a line of its own
 * @fields:  names of the only fields to write, separated by commas, or NULL
 * @file:    file of --output, or NULL
 */
struct output_options {
	bool json;
	bool ndjson;
	bool csv;
	bool verbose;
	const char *fields;
	const char *file;
};

/**
 * struct record_options - ibsa ... --record
 * @path:      name of the file for the packets, or NULL
 * @recording: the open file, or NULL
 * @node:      the name in IBSA_NODE, if it had to be copied; or NULL
 */
struct record_options {
	const char *path;
	struct record *recording;
	char *node;
};

/*
 * Options --dot and --svg: the files for Graphviz input and for a picture; NULL
 * if not given.
 */
struct picture_options {
	const char *dot;
	const char *svg;
};

/* Options of ibsa trace: the MGID of --group as text, or NULL. */
struct trace_options {
	const char *group;
};

/**
 * struct gids_options - ibsa gids
 * @address: the address of --for as text; NULL if not given
 * @gid:     this address as a GID
 */
struct gids_options {
	const char *address;
	struct ibsa_gid gid;
};

/**
 * struct check_options - ibsa check
 * @nagios:      print the line of a monitoring plugin
 * @is_plugin:   --nagios is on the command line, even if the command line has
 *               an error: the exit status is then that of a monitoring plugin
 * @is_reported: the line of the monitoring plugin has been printed
 * @rate:        rate of --rate; its kind is RATE_ANY if not given
 * @pkeys:       the @pkey_count P_Keys of --pkey
 * @peers:       file of --peers, or NULL
 * @expect:      file of --expect, or NULL
 */
struct check_options {
	bool nagios;
	bool is_plugin;
	bool is_reported;
	struct rate_limit rate;
	uint16_t pkeys[CLI_PKEYS_MAX];
	int pkey_count;
	const char *peers;
	const char *expect;
};

/**
 * struct metrics_options - ibsa metrics
 * @listen: address of --listen, or NULL
 * @label:  NAME=VALUE, the label of all samples, or NULL
 */
struct metrics_options {
	const char *listen;
	const char *label;
};

/**
 * struct path_options - ibsa path
 * @all_pairs: print a path from each port of the first host to each port of the
 *             second host
 */
struct path_options {
	bool all_pairs;
};

/* struct reach_options - ibsa reach. @matrix: check every pair of ports. */
struct reach_options {
	bool matrix;
};

/**
 * struct service_options - ibsa service
 * @lease: lease in seconds; 0 if not given
 * @renew: renew the service while the command runs
 */
struct service_options {
	uint32_t lease;
	bool renew;
};

/**
 * struct topology_options - ibsa topology
 * @net:      write the format of ibnetdiscover
 * @slurm:    write topology.conf of Slurm
 * @slurm_yaml: write topology.yaml of Slurm
 * @name_map: file of --node-name-map, or NULL
 * @map:      content of the file of --node-name-map, which main() frees; or
 *            NULL
 */
struct topology_options {
	bool net;
	bool slurm;
	bool slurm_yaml;
	const char *name_map;
	struct node_map *map;
};

/**
 * struct watch_options - ibsa watch
 * @audit_nodes: also read the table of nodes at intervals, to find changes
 *               whose Report was lost
 * @journal:     write events to the systemd journal
 */
struct watch_options {
	bool audit_nodes;
	bool journal;
};

/**
 * struct fabric_options - ibsa fabric
 * @loaded:  the fabric that this process has loaded, or NULL
 * @socket:  path of a fabric server's socket; NULL: the default
 * @sa_mode: value of --sa, "embedded" or "none"; NULL: not given
 * @sa_at:   node at which the embedded SA runs; NULL: the first adapter
 * @seed:    seed of the random numbers, if @has_seed
 * @first_lid: first LID to assign; 0: the fabric's default
 * @connections: how many connections a fabric server accepts; 0: the default
 * @memory_mb: MiB that a fabric server uses for its clients; 0: the default
 * @profile: SM whose behaviour the embedded SA copies
 * @partitions: file with the P_Keys of the ports; NULL: the default partition
 * @opa:     the links are Omni-Path links
 * @faults:  the @fault_count values of --fault, each
 *           KIND=PERCENT[,COUNT[,NUMBER]]; NUMBER is a delay in ms, or a number
 *           of redirections
 * @umad:    device and port of this machine at which the SA answers, or NULL
 */
struct fabric_options {
	struct ibsa_fabric *loaded;
	const char *socket;
	const char *sa_mode;
	const char *sa_at;
	uint64_t seed;
	bool has_seed;
	uint32_t first_lid;
	unsigned int connections;
	unsigned int memory_mb;
	enum ibsa_sm_profile profile;
	const char *partitions;
	bool opa;
	const char *faults[CLI_FAULTS_MAX];
	int fault_count;
	const char *umad;
};

#endif
