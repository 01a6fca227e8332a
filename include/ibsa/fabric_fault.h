/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults of an embedded fabric: lost, late and changed MADs.
 *
 * ibsa_fabric_fault start, change or end a kind of fault
 * ibsa_fault_parse  convert text to a fault
 *
 * Any thread may call these functions. They are in libibsa-fabric: link with
 * the flags of "pkg-config ibsa-fabric".
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
 * @percent:  of the MADs, chosen at random: 0 to 100; 0 ends the fault
 * @count:    of MADs, or of redirections, until the fault ends; 0: no end
 * @delay_ms: of DELAY: the longest; of REORDER: until the MAD arrives at the
 *            latest; 0: 100
 * @hops:     of REDIRECT: ports that redirect, each to the next; 0: one
 * @by_gid:   of REDIRECT: to a GID, without a LID
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
 * @fault: copied; replaces the fault of the same kind
 *
 * Return: 0; -EINVAL no such kind, or @percent is not within 0 and 100
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
 * @text:  KIND=PERCENT[,COUNT[,DELAY_MS]], such as "delay=2.5,0,200"; the kinds
 *         are lose, delay, duplicate, reorder, corrupt, busy, silence, redirect
 *         and redirect-gid, whose last number is HOPS
 * @error: after an error, a sentence that lists the kinds; may be NULL
 *
 * Return: 0; -EINVAL
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_fault_parse(const char *text,
					       struct ibsa_fault *out,
					       struct ibsa_error *error)
{
	return ibsa_fault_parse_sized(text, out, sizeof(*out), error);
}

IBSA_END

#endif
