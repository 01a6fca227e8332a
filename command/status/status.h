/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a host and its fabric, for ibsa status. */
#ifndef COMMAND_STATUS_H
#define COMMAND_STATUS_H

#include "findings/fabric.h"
#include "names/machine.h"

enum {
	STATUS_ROLES = ROLE_UNCABLED + 1,
	STATUS_TEXT = 512,  /* for a line */
	STATUS_LEVELS = 16, /* higher levels are counted with the last one */
	STATUS_NEXT = 8300, /* for a command with the names of two files */
};

/**
 * struct status_options - options of ibsa status
 * @watch:  show the lines again when the fabric changes
 * @expect: file of --expect, or NULL
 */
struct status_options {
	bool watch;
	const char *expect;
};

/**
 * struct status_sm - the subnet manager of the port
 * @lid:     SM LID of the port; 0: none
 * @guid:    its port GUID; 0: unknown
 * @name:    node description, safe to print; "": unknown
 * @since:   time at which a watch has found that the SM LID has changed; "": it
 *           has not changed during the watch
 * @rtt_ns:  time from a query to the SA's reply; 0: no reply
 * @standby: number of SMs that are not master; not valid if the SA has not
 *           returned SMInfoRecords
 * @standby_names: names of the nodes of these SMs
 */
struct status_sm {
	uint32_t lid;
	uint64_t guid;
	char name[IBSA_VALUE_TEXT];
	char since[32];
	uint64_t rtt_ns;
	size_t standby;
	char standby_names[STATUS_TEXT];
};

/**
 * struct status_role - the ports of this host that have one role
 * @count:    number of these ports
 * @active:   number of these ports that are active
 * @rates:    each rate of active ports, and how many active ports have it
 * @inactive: the ports that are not active, with their states
 */
struct status_role {
	size_t count;
	size_t active;
	char rates[STATUS_TEXT];
	char inactive[STATUS_TEXT];
};

/**
 * struct status - what the command shows
 * @machine:  ports of this host
 * @roles:    for each role, the ports that have it
 * @has_fabric: the SA returned the fabric, and the members below are valid
 * @check:    the fabric and its findings
 * @host:     name of this host in the fabric; "": unknown
 * @hosts:    number of hosts
 * @levels:   number of switches of each level, from level 1
 * @rates:    each rate of links, and how many links have it
 */
struct status {
	struct machine machine;
	struct status_role roles[STATUS_ROLES];
	struct status_sm sm;
	bool has_fabric;
	struct fabric_check check;
	char host[IBSA_VALUE_TEXT];
	size_t hosts;
	size_t levels[STATUS_LEVELS];
	char rates[STATUS_TEXT];
};

/*
 * Read everything, and compare the fabric with @expected unless it is NULL.
 * Return: the exit status; a failure is printed, and the members that were read
 * before it are valid. The caller calls status_free() in any case.
 */
int status_read(struct cli *cli, struct ibsa_topology *expected,
		struct status *out);
void status_free(struct status *status);

/*
 * Set the member @hosts. An adapter whose description has no name of a host
 * counts as a host. Return: the exit status; a failure is printed.
 */
int status_hosts_count(struct status *status);

/* Set the other members from @host to @rates by the topology. */
void status_fabric_count(struct status *status,
			 const struct ibsa_port_state *own);

/*
 * Add ", " and a text to a list. If the list has no room for it, the list ends
 * with "...".
 */
void status_list_add(char list[STATUS_TEXT], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Write the lines for people. */
void status_print(struct cli *cli, const struct status *status);

/* Return: the command that the user should type next. */
const char *status_next(const struct cli *cli, const struct status *status,
			char out[STATUS_NEXT]);

/* Print the lines again at each event. Return: the exit status. */
int status_watch(struct cli *cli, struct ibsa_topology *expected);

#endif
