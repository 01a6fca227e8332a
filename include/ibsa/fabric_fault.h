/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Faults of an embedded fabric: what happens to MADs on their way. */
#ifndef IBSA_FABRIC_FAULT_H
#define IBSA_FABRIC_FAULT_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;

/**
 * enum ibsa_fault_kind - what can go wrong with a MAD on its way
 *
 * A fault strikes requests, answers and Reports alike, but for BUSY, SILENCE
 * and REDIRECT, which are the SA's.
 */
enum ibsa_fault_kind {
	IBSA_FAULT_LOSE,      /* it does not arrive */
	IBSA_FAULT_DELAY,     /* it arrives up to delay_ms later */
	IBSA_FAULT_DUPLICATE, /* it arrives twice */
	IBSA_FAULT_REORDER,   /* it arrives after the one sent next */
	IBSA_FAULT_CORRUPT,   /* some of its bits are flipped */
	IBSA_FAULT_BUSY,      /* the SA answers BUSY */
	IBSA_FAULT_SILENCE,   /* the SA does not answer */
	IBSA_FAULT_REDIRECT,  /* the SA redirects the request to another port */
	IBSA_FAULT_KINDS,
};

/**
 * struct ibsa_fault - one kind of fault and how often it strikes
 * @kind:     which
 * @percent:  of the MADs, 0 to 100; 0 ends the fault
 * @count:    strike so many times and then end; 0: no end
 * @delay_ms: for DELAY: at most this long; default 100
 * @hops:     for REDIRECT: how many ports redirect, one to the next; default 1.
 *            The SA's port redirects to that of the next channel adapter of the
 *            file, and so on, from the last adapter to the SA's port. The next
 *            port after these answers, also while and after @count runs out. If
 *            no port is left, the redirections lead in a circle
 * @by_gid:   for REDIRECT: redirect to a GID, without a LID
 */
struct ibsa_fault {
	enum ibsa_fault_kind kind;
	double percent;
	unsigned int count;
	unsigned int delay_ms;
	unsigned int hops;
	bool by_gid;
};

/**
 * ibsa_fabric_fault - start, change or end a kind of fault
 * @fabric: which
 * @fault:  the fault; replaces one of the same kind
 *
 * Return: 0; -EINVAL an unknown kind or a percentage out of range.
 */
int ibsa_fabric_fault(struct ibsa_fabric *fabric,
		      const struct ibsa_fault *fault) IBSA_MUST_USE;

/**
 * ibsa_fault_parse - a fault from text
 * @text:  KIND=PERCENT[,COUNT[,DELAY_MS]], as "lose=1" or "delay=2.5,0,200";
 *         kinds are lose, delay, duplicate, reorder, corrupt, busy and silence
 * @out:   the fault, for ibsa_fabric_fault(); what is not given is 0
 * @error: filled on failure; may be NULL
 *
 * Return: 0; -EINVAL @text is no fault.
 */
int ibsa_fault_parse(const char *text, struct ibsa_fault *out,
		     struct ibsa_error *error) IBSA_MUST_USE;

IBSA_END

#endif
