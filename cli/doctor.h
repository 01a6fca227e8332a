/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What ibsa doctor finds, and who looks for it. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include <ibsa/device.h>

#include "cli.h"
#include "interrupt.h"
#include "progress.h"

/* In the order of what they mean to somebody who wants to ask an SA. */
enum verdict { VERDICT_OK, VERDICT_UNCHECKED, VERDICT_WARNING, VERDICT_WRONG };

enum { NO_PORT = -1 };

/* What a check is about. */
struct spot {
	const char *device; /* NULL: all of it */
	int port;	    /* or NO_PORT */
};

/* How one check ended. */
struct finding {
	const char *name;
	struct spot spot;
	enum verdict verdict;
	int status; /* of the command, if @verdict is VERDICT_WRONG */
	char detail[320];
	const char *advice; /* NULL: none is needed */
};

struct doctor {
	struct cli *cli;
	struct finding *findings;
	size_t count;
	size_t room;
	struct finding spare; /* where findings go that have no room */
	bool out_of_memory;
	struct progress progress;
	struct interrupt interrupt;
	const struct ibsa_device_list *list; /* of a machine, or NULL */
};

/* Whether a signal came: no more is looked at, and what was found is shown. */
bool doctor_is_interrupted(const struct doctor *doctor);

/* Add a finding. What stands in it is made safe to show. */
void doctor_ok(struct doctor *doctor, const struct spot *spot, const char *name,
	       const char *format, ...) __attribute__((format(printf, 4, 5)));
void doctor_skip(struct doctor *doctor, const struct spot *spot,
		 const char *name, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void doctor_warn(struct doctor *doctor, const struct spot *spot,
		 const char *name, const char *advice, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void doctor_wrong(struct doctor *doctor, const struct spot *spot,
		  const char *name, int status, const char *advice,
		  const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* A port under examination. */
struct visit {
	struct doctor *doctor;
	struct spot spot;
	struct ibsa_fabric *fabric;	     /* NULL: a port of this machine */
	const char *rate;		     /* may be "" */
	const struct ibsa_port_state *state; /* NULL: unknown */
	int err;			     /* why @state is unknown */
	bool is_named;			     /* on the command line */
	const char *locked; /* why the port cannot be opened; NULL: it can */
};

/* What the kernel has for MADs at all. Return: whether it has it. */
bool doctor_umad(struct doctor *doctor);

/* The device files of a port. */
void doctor_files(struct visit *visit, const struct ibsa_port *port,
		  bool has_umad);

/* The state of a port, and the subnet manager that it knows. */
void doctor_port(struct visit *visit);

/* Whether the SA answers, and what it thinks of the SM_Key. */
void doctor_sa(struct visit *visit);

/* Which port is asked from if none is named. */
void doctor_default(struct doctor *doctor, struct ibsa_fabric *fabric,
		    const struct ibsa_device_list *list);

#endif
