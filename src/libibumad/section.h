/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of a call that hold a lock, a reference, a descriptor or memory and
 * must run to their end. The thread cannot be cancelled meanwhile. If a lock is
 * held, signals are held back, too, since a handler may call the library.
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

/* Begin to use a port whose file may take locks. */
void ibsa__section_enter_port(struct section *section);

/*
 * Begin to read the device files that the environment names now. Return: 0, and
 * *@out are the files; -ENOMEM, and the section has not begun.
 */
int ibsa__section_enter_files(struct section *section,
			      struct device_files **out) IBSA_MUST_USE;

/* End the section. errno does not change. */
void ibsa__section_leave(struct section *section);

#endif
