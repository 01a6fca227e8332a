/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings about this machine, for ibsa check node and ibsa metrics. */
#ifndef COMMAND_CHECK_NODE_H
#define COMMAND_CHECK_NODE_H

#include <ibsa/topology.h>

#include "findings/node_options.h"
#include "graph/expected.h"
#include "session/answers.h"
#include "names/machine.h"
#include "base/progress.h"
#include "names/target.h"

/* A finding, and the port and the peer that it is about. */
struct node_finding {
	struct ibsa_finding finding;
	const struct machine_port *port; /* or NULL */
	const char *peer;		 /* or NULL */
};

/* A port that must be reachable. */
struct peer {
	char *text;
	struct target what; /* points into @text */
	/*
	 * At least one GID of this peer is known: it was given, or an SA has a
	 * record with its name or LID.
	 */
	bool is_known;
	bool is_reached; /* from one port at least */
	/* A query for a path to this peer was not answered. */
	bool is_unknown;
	/* A finding already says that this peer is not reachable. */
	bool is_reported;
};

/*
 * The check of one port of this machine. @client is NULL if the SA cannot be
 * queried from the port.
 */
struct port_check {
	const struct machine_port *port;
	struct ibsa_client *client;
	/* Round-trip time of a query to the SA; 0: none was measured. */
	uint64_t rtt_ns;
	/* Why the port is not checked; NULL: it is */
	const char *left_out;
	/*
	 * The port is down; whether it should be up is not known before this
	 * host is compared with the hosts like it.
	 */
	bool is_doubtful;
};

struct node_check {
	struct cli *cli;
	const struct node_options *options;
	struct machine machine;
	struct port_check *ports; /* one for each port of @machine */
	struct peer *peers;
	size_t peer_count;
	struct node_finding *findings;
	size_t count;
	struct progress progress;
	struct expected expected; /* ports of the peers */
	/* counts the SA's answers; NULL: they are not counted */
	struct answers *answers;
	bool out_of_memory;
	/* a peer's name is ambiguous, and a message was printed */
	bool is_wrong;
	/* Why a check could not be made; "" if every check was made. */
	struct ibsa_error why;
};

/* Add a finding about this machine; @port and @peer may be NULL. */
void node_finding_add(struct node_check *check, enum ibsa_finding_kind kind,
		      const struct machine_port *port, const char *peer,
		      const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Read and check the ports, and the peers of peers_parse(). Return: the exit
 * status. After a failure, @error has the reason, which was not printed; or it
 * is empty, because the reason was printed.
 */
int node_check_run(struct node_check *check, struct ibsa_error *error);

/*
 * Judge the ports that are down and that need not be up by an option or a given
 * role. Such a port is a critical finding if no
 * port is active, or if the hosts like this one have its rail; otherwise it is
 * a warning if it was up before.
 */
void down_ports_check(struct node_check *check);

/* Add the finding that a port is not active. @more: the end of the sentence. */
void port_down_add(struct node_check *check, const struct machine_port *port,
		   const char *more);

/* Close the clients and free the members. */
void node_check_end(struct node_check *check);

/*
 * Parse the peers in the arguments and in the file of --peers. Return: the
 * exit status; a failure is printed.
 */
int peers_parse(struct node_check *check);

/*
 * Check that each LID of a peer is valid on a port of this machine. Return: the
 * exit status; a failure is printed.
 */
int peers_fit(const struct node_check *check);

/*
 * Check whether the SA has a path to each peer, from each port that has a
 * client.
 */
void peers_check(struct node_check *check);

void peers_free(struct node_check *check);

#endif
