/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sections of a function that neither a cancellation nor, if needed, a signal
 * handler may interrupt.
 */
#include <errno.h>

#include "client/files.h"
#include "libibumad/section.h"

void ibsa__section_enter_port(struct section *section)
{
	section->files = NULL;
	section->holds_signals = true;
	interrupts_hold(&section->before);
}

int ibsa__section_enter_files(struct section *section,
			      struct device_files **out)
{
	int err;

	section->holds_signals = false;
	cancel_hold(&section->before.cancel);
	err = ibsa__files_open_now(&section->files);
	if (err) {
		section->files = NULL;
		ibsa__section_leave(section);
		return err;
	}
	section->holds_signals = section->files->ops->takes_locks;
	if (section->holds_signals)
		signals_hold(&section->before.signals);
	*out = section->files;
	return 0;
}

void ibsa__section_leave(struct section *section)
{
	const int err = errno;

	ibsa__files_put(section->files);
	if (section->holds_signals)
		signals_restore(&section->before.signals);
	cancel_restore(&section->before.cancel);
	errno = err;
}
