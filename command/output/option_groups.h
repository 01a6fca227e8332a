/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options that many commands have, a struct for each subject. */
#ifndef COMMAND_OPTION_GROUPS_H
#define COMMAND_OPTION_GROUPS_H

#include <stdbool.h>

#include <ibsa/ibsa.h>

/**
 * struct sa_options - the SA to which the client sends queries
 * @address: address of --sa; struct ibsa_options points to it if --sa is given
 * @has_sl:  --sa contains an SL
 * @word:    value of --sa of ibsa fabric, "embedded" or "none"; NULL: not given
 */
struct sa_options {
	struct ibsa_address address;
	bool has_sl;
	const char *word;
};

/**
 * struct output_options - how a command writes its rows
 * @format:  name of the output format, or NULL
 * @verbose: write all fields, each on a line of its own
 * @fields:  names of the only fields to write, separated by commas, or NULL
 * @file:    file of --output, or NULL
 */
struct output_options {
	const char *format;
	bool verbose;
	const char *fields;
	const char *file;
};

/**
 * struct record_options - ibsa ... --record
 * @path:      name of the file for the packets, or NULL
 * @recording: the open file, or NULL
 */
struct record_options {
	const char *path;
	struct record *recording;
};

/**
 * struct name_options - names of nodes that the user gives
 * @file: file of --node-name-map, or NULL
 * @map:  its content, which main() frees; or NULL
 * @devices: the values of --device, separated by commas, or NULL
 * @is_absence_told: no message that no node has a name: the command itself
 *        tells where the node is expected
 */
struct name_options {
	const char *file;
	struct node_map *map;
	char *devices;
	bool is_absence_told;
};

/**
 * struct plugin_state - ibsa check --nagios
 * @is_plugin:   --nagios is on the command line, even if the command line has
 *               an error: the exit status is then that of a monitoring plugin
 * @is_reported: the line of the monitoring plugin has been printed
 */
struct plugin_state {
	bool is_plugin;
	bool is_reported;
};

#endif
