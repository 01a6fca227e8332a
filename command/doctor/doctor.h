/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks of ibsa doctor. */
#ifndef COMMAND_DOCTOR_H
#define COMMAND_DOCTOR_H

#include <ibsa/device.h>

#include "output/cli.h"
#include "base/interrupt.h"
#include "base/progress.h"

/* The results of a check; a later one is more severe. */
enum verdict { VERDICT_OK, VERDICT_UNCHECKED, VERDICT_WARNING, VERDICT_WRONG };

enum { NO_PORT = -1 };

/* The subject of a check. */
struct spot {
	/* NULL: the check is about the machine or the fabric */
	const char *device;
	int port; /* or NO_PORT */
};

/* The result of a check. */
struct finding {
	const char *name;
	struct spot spot;
	enum verdict verdict;
	/*
	 * If @verdict is VERDICT_WRONG, the command ends with this exit status.
	 */
	int status;
	char detail[320];
	const char *advice; /* or NULL */
};

struct doctor {
	struct cli *cli;
	struct finding *findings;
	size_t count;
	bool out_of_memory;
	struct progress progress;
	struct interrupt interrupt;
	const struct ibsa_device_list *list; /* of this machine, or NULL */
	struct port_roles *roles;	     /* of its ports, or NULL */
};

/* Whether a signal has arrived: the remaining checks are then skipped. */
bool doctor_is_interrupted(const struct doctor *doctor);

/* Add a finding of ibsa doctor. Unsafe characters in its text are replaced. */
void doctor_add(struct doctor *doctor, const struct finding *finding,
		const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * For each verdict, a function that adds a finding. The last arguments of each
 * function are the format and values of the detail text.
 */
/* clang-format off */
#define doctor_add_as(doctor, at, what, grade, result, help, ...)	\
	doctor_add(doctor, &(const struct finding){ .name = (what),	\
		.spot = *(at), .verdict = (grade), .status = (result),	\
		.advice = (help) }, __VA_ARGS__)
#define doctor_ok(doctor, spot, name, ...)				\
	doctor_add_as(doctor, spot, name, VERDICT_OK, 0, NULL, __VA_ARGS__)
#define doctor_skip(doctor, spot, name, ...)				\
	doctor_add_as(doctor, spot, name, VERDICT_UNCHECKED, 0, NULL, __VA_ARGS__)
#define doctor_warn(doctor, spot, name, advice, ...)			\
	doctor_add_as(doctor, spot, name, VERDICT_WARNING, 0, advice, __VA_ARGS__)
#define doctor_wrong(doctor, spot, name, status, advice, ...)		\
	doctor_add_as(doctor, spot, name, VERDICT_WRONG, status, advice, __VA_ARGS__)
/* clang-format on */

/* A port that is being checked. */
struct visit {
	struct doctor *doctor;
	struct spot spot;
	/* NULL: the port is a port of this machine */
	struct ibsa_fabric *fabric;
	/*
	 * The device's name as ibsa_open() accepts it; the name in @spot may be
	 * that of several nodes.
	 */
	const char *device;
	const char *rate;		     /* may be "" */
	const struct ibsa_port_state *state; /* NULL: unknown */
	int err;			     /* error of reading @state */
	bool is_named;			     /* the command line names it */
	/* The reason why the port cannot be opened, or NULL. */
	const char *locked;
};

/*
 * Check that the kernel module ib_umad is loaded and that the version of its
 * interface can be used, and add the finding. Return: whether both are true.
 */
bool doctor_umad(struct doctor *doctor);

/* Check the device files of a port. */
void doctor_files(struct visit *visit, const struct ibsa_port *port,
		  bool has_umad);

/* Check the state of a port and its subnet manager. */
void doctor_port(struct visit *visit);

/* Check that the SA of the port answers, and whether it trusts the SM_Key. */
void doctor_sa(struct visit *visit);

/* Report which port queries use if no port is named. */
void doctor_default(struct doctor *doctor, struct ibsa_fabric *fabric,
		    const struct ibsa_device_list *list);

#endif
