/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa env: the facts about ports and paths from which the values of its
 * variables follow.
 */
#ifndef COMMAND_ENV_H
#define COMMAND_ENV_H

#include "findings/node_options.h"
#include "names/machine.h"

/* Options of ibsa env. */
struct env_options {
	struct pkey_list pkeys;
};

/* A value that all ports, or all paths, should have in common. */
struct env_value {
	enum { ENV_UNKNOWN, ENV_KNOWN, ENV_DIFFERS } kind;
	unsigned int number;
	/*
	 * If the ports have different values (ENV_DIFFERS): a value other than
	 * @number.
	 */
	unsigned int other;
};

/* How the ports of this machine are connected. */
enum env_wiring {
	ENV_WIRING_OTHER, /* otherwise, or not known */
	/*
	 * Each port is connected to its own switch, to which the adapter with
	 * the same name of another host is connected, too.
	 */
	ENV_WIRING_RAILS,
	/* All ports are connected to one switch. */
	ENV_WIRING_ONE_SWITCH,
};

/* An active port, and the index of the P_Key that it uses. */
struct env_port {
	const struct machine_port *port;
	size_t pkey_index;
};

/**
 * struct env_facts - what all active ports have in common
 * @ports:           the @count active ports
 * @gid_index:       index of the best GID of a RoCE port
 * @pkey:            P_Key without the membership bit
 * @pkey_index:      index of this P_Key in the P_Key table
 * @pkey_is_given:   --pkey is given
 * @sl, @traffic_class: service level and traffic class of the SA's paths to
 *                      other channel adapters
 * @path_count:      number of these paths
 */
struct env_facts {
	struct machine machine;
	struct env_port *ports;
	size_t count;
	struct env_value gid_index;
	struct env_value pkey;
	struct env_value pkey_index;
	bool pkey_is_given;
	struct env_value sl;
	struct env_value traffic_class;
	size_t path_count;
	enum env_wiring wiring;
	bool has_rails; /* the rails were compared with those of other hosts */
};

/*
 * Read the ports of this machine and query the SA. Return: the exit status; a
 * failure is printed. After a failure, @out contains what was read. The caller
 * frees @out in any case.
 */
int env_facts_read(struct cli *cli, struct env_facts *out);
void env_facts_free(struct env_facts *facts);

#endif
