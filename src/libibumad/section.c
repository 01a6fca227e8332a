/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of a call that are not interrupted. */
#include <errno.h>
#include <pthread.h>

#include "client/files.h"
#include "libibumad/section.h"
#include "remote/files.h"

/* All but those that an instruction of this very thread raises. */
static void signals_block(struct section *section)
{
	static const int own[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL,
				   SIGSEGV, SIGSYS, SIGTRAP };
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_BLOCK, &all, &section->signals);
	section->blocks_signals = true;
}

static void cancellation_disable(struct section *section)
{
	*section = (struct section){ .files = NULL };
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &section->cancel_state);
}

void ibsa__section_enter_port(struct section *section)
{
	cancellation_disable(section);
	signals_block(section);
}

int ibsa__section_enter_files(struct section *section,
			      struct device_files **out)
{
	int err;

	cancellation_disable(section);
	err = ibsa__files_open_now(&section->files);
	if (err) {
		section->files = NULL;
		ibsa__section_leave(section);
		return err;
	}
	if (ibsa__files_are_remote(section->files))
		signals_block(section);
	*out = section->files;
	return 0;
}

void ibsa__section_leave(struct section *section)
{
	const int err = errno;

	ibsa__files_put(section->files);
	if (section->blocks_signals)
		pthread_sigmask(SIG_SETMASK, &section->signals, NULL);
	pthread_setcancelstate(section->cancel_state, NULL);
	errno = err;
}
