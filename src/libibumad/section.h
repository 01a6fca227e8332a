/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of a call that hold a lock, a reference, a descriptor or memory, and
 * must run to their end: neither a cancellation of the thread nor, where a lock
 * is held, a signal handler that calls the library interrupts them.
 */
#ifndef LIBIBUMAD_SECTION_H
#define LIBIBUMAD_SECTION_H

#include <ibsa/types.h>

#include "base/interrupt.h"

struct device_files;

struct section {
	struct device_files *files; /* put at the end, or NULL */
	struct interrupts before;
	bool holds_signals;
};

/* Begin to use a port whose file may hold locks. */
void ibsa__section_enter_port(struct section *section);

/* Begin to read the device files of the moment, which are in *@out. Return: 0;
 * -ENOMEM, and it has not begun. */
int ibsa__section_enter_files(struct section *section,
			      struct device_files **out) IBSA_MUST_USE;

/* Leaves errno as it is. */
void ibsa__section_leave(struct section *section);

#endif
