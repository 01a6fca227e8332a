/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of ibsa doctor --report. */
#ifndef COMMAND_REPORT_H
#define COMMAND_REPORT_H

#include "doctor/doctor.h"

struct scope;

/**
 * struct doctor_options - options of ibsa doctor
 * @report:    file of --report, or NULL
 * @anonymous: replace GUIDs, GIDs and names in the report
 */
struct doctor_options {
	const char *report;
	bool anonymous;
};

/* The options of the command that runs. */
static inline const struct doctor_options *doctor_own(const struct cli *cli)
{
	return cli->own;
}

/*
 * Check that --report can be used with the other options and the port. Return:
 * the exit status; a failure is printed.
 */
int report_check(const struct cli *cli, const struct scope *scope);

/*
 * Send the queries of the report from the port of @scope, and write the report.
 * Return: the exit status; a failure is printed.
 */
int report_write(struct doctor *doctor, const struct scope *scope);

#endif
