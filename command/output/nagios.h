/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints the line of a monitoring plugin, and returns its exit status.
 *
 * Source: Nagios Plugin Development Guidelines, "Plugin Output" and
 * "Performance data".
 */
#ifndef COMMAND_NAGIOS_H
#define COMMAND_NAGIOS_H

#include "output/out.h"

/* Exit status of a plugin. */
enum nagios_status {
	NAGIOS_OK = 0,
	NAGIOS_WARNING = 1,
	NAGIOS_CRITICAL = 2,
	NAGIOS_UNKNOWN = 3, /* the check could not be made */
};

/*
 * Performance data of a monitoring plugin, collected before the line is
 * printed. With the text before the performance data, the line is shorter than
 * the 4 KiB that Nagios reads.
 */
struct nagios {
	char data[3000];
	size_t len;
};

/*
 * Add the performance data "'LABEL'=VALUE". @value is a number with a unit and
 * thresholds, such as "5ms" or "100;400:". If no room is left, nothing is
 * added.
 */
void nagios_add(struct nagios *nagios, const char *label, const char *format,
		...) __attribute__((format(printf, 3, 4)));

/* Print "IBSA STATUS: text | data" as one line. Return: @status. */
int nagios_print(struct nagios *nagios, struct out *out,
		 enum nagios_status status, const char *text);

#endif
