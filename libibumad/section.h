/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sections of a function in which it holds a lock, a reference, a descriptor or
 * memory, and must not be interrupted: the thread cannot be cancelled within a
 * section, and if a lock is held, signals are blocked, too, since their
 * handlers may call the library.
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

/* Begin a section that uses an open port, whose umad file may take locks. */
void ibsa__section_enter_port(struct section *section);

/*
 * Begin a section that reads the device files which the environment variables
 * currently select. Return: 0, and *@out are the files; -ENOMEM, and the
 * section has not begun.
 */
int ibsa__section_enter_files(struct section *section,
			      struct device_files **out) IBSA_MUST_USE;

/* End the section. errno does not change. */
void ibsa__section_leave(struct section *section);

#endif
