/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults of an embedded fabric: lost, late and changed MADs.
 *
 * The functions are in libibsa-fabric: link with the flags of "pkg-config
 * ibsa-fabric".
 */
#ifndef IBSA_FABRIC_FAULT_H
#define IBSA_FABRIC_FAULT_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;

/**
 * enum ibsa_fault_kind - what a fault does to a MAD
 *
 * BUSY, SILENCE and REDIRECT affect requests to the SA. The other faults affect
 * all MADs: requests, replies, Reports and others. A message of several MADs
 * counts as one MAD. REORDER affects only one MAD at a time.
 */
enum ibsa_fault_kind {
	IBSA_FAULT_LOSE,      /* the MAD does not arrive */
	IBSA_FAULT_DELAY,     /* the MAD arrives up to delay_ms later */
	IBSA_FAULT_DUPLICATE, /* the MAD arrives twice */
	IBSA_FAULT_REORDER,   /* the next MAD overtakes the MAD */
	IBSA_FAULT_CORRUPT,   /* one to eight bits of the MAD are inverted */
	IBSA_FAULT_BUSY,      /* the SA replies BUSY */
	IBSA_FAULT_SILENCE,   /* the SA does not reply */
	IBSA_FAULT_REDIRECT,  /* the SA redirects the request to another port */
	IBSA_FAULT_KINDS,
};

/**
 * struct ibsa_fault - a kind of fault and how often it occurs
 * @kind:     the kind
 * @percent:  percentage of the MADs that the fault affects, chosen at random: 0
 *            to 100, such as 2.5; 0 ends the fault
 * @count:    number of MADs, or for REDIRECT of redirections, that the fault
 *            affects before it ends; 0: no end
 * @delay_ms: for DELAY: maximum of the random delay in milliseconds; for
 *            REORDER: milliseconds after which the MAD arrives if no other MAD
 *            overtakes it earlier. For both, 0 means 100
 * @hops:     for REDIRECT: number of ports that redirect, each to the next; 0
 *            means one. The first is the SA's own port. The ports of channel
 *            adapters that the SA reaches follow, in the order of their port
 *            GUIDs from the SA's port on; the lowest GUID follows the highest.
 *            The port after the redirecting ports answers the requests that it
 *            receives. If no port is left for this, the last port redirects to
 *            the first, and no port answers. After @count redirections, all
 *            these ports answer the requests that they receive
 * @by_gid:   for REDIRECT: redirect to a GID, without a LID; requests for the
 *            path to this GID are not redirected
 */
struct ibsa_fault {
	enum ibsa_fault_kind kind;
	double percent;
	unsigned int count;
	unsigned int delay_ms;
	unsigned int hops;
	bool by_gid;
};

/* For bindings: ibsa_fabric_fault() with the size of @fault. */
int ibsa_fabric_fault_sized(struct ibsa_fabric *fabric,
			    const struct ibsa_fault *fault,
			    size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 2);

/**
 * ibsa_fabric_fault - start, change or end a kind of fault
 * @fabric: a fabric
 * @fault:  the fault, copied; replaces the fault of the same kind, or ends it if
 *          @percent is 0
 *
 * Faults test how a program copes with an unreliable network and SA. Any thread
 * may call ibsa_fabric_fault().
 *
 * Return: 0; -EINVAL @kind of @fault does not exist, or @percent is not within
 * 0 and 100. All values of the other members are valid.
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_fabric_fault(struct ibsa_fabric *fabric,
						const struct ibsa_fault *fault)
{
	return ibsa_fabric_fault_sized(fabric, fault, sizeof(*fault));
}

/* For bindings: ibsa_fault_parse() with the size of @out. */
int ibsa_fault_parse_sized(const char *text, struct ibsa_fault *out,
			   size_t size, struct ibsa_error *error) IBSA_MUST_USE
	IBSA_NONNULL(2);

/**
 * ibsa_fault_parse - convert text to a fault
 * @text:  KIND=PERCENT[,COUNT[,DELAY_MS]], such as "lose=1" or
 *         "delay=2.5,0,200"; the kinds are lose, delay, duplicate, reorder,
 *         corrupt, busy and silence, of which only delay and reorder use
 *         DELAY_MS; the others ignore it. Or KIND=PERCENT[,COUNT[,HOPS]] with
 *         the kind redirect, or redirect-gid, which is the kind redirect with
 *         by_gid. PERCENT is 0 to 100, with or without "%"; 0 ends the fault
 * @out:   receives the fault, for ibsa_fabric_fault(); missing numbers are 0,
 *         which have the meanings in struct ibsa_fault. Unchanged after an
 *         error
 * @error: after an error, a sentence that lists the kinds; may be NULL
 *
 * Return: 0; -EINVAL @text is NULL or does not have the form of a fault,
 * PERCENT is above 100, or another number has more than 32 bits. Any thread may
 * call ibsa_fault_parse().
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_fault_parse(const char *text,
					       struct ibsa_fault *out,
					       struct ibsa_error *error)
{
	return ibsa_fault_parse_sized(text, out, sizeof(*out), error);
}

IBSA_END

#endif
