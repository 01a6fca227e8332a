/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of a call that are not interrupted. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/files.h"
#include "libibumad/section.h"
#include "remote/files.h"

enum {
	SIGNALS_BYTES = (_NSIG - 1) / 8,
	WORD_BITS = 8 * sizeof(unsigned long),
	/* glibc's own, by which setuid() reaches all threads. */
	SETXID = 33,
};

/*
 * As pthread_sigmask(), which leaves out the signal by which glibc cancels a
 * thread. That signal acts although cancellation is disabled, if it is sent
 * while a handler interrupts a cancellation point and delivered in here.
 */
static void signal_mask(const sigset_t *set, sigset_t *old)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, set, old, SIGNALS_BYTES);
}

/* All but those that an instruction of this very thread raises. */
static void signals_block(struct section *section)
{
	static const int own[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL,
				   SIGSEGV, SIGSYS, SIGTRAP };
	unsigned long words[sizeof(sigset_t) / sizeof(unsigned long)];
	sigset_t all;

	memset(words, 0xff, sizeof(words));
	words[(SETXID - 1) / WORD_BITS] &= ~(1UL << (SETXID - 1) % WORD_BITS);
	memcpy(&all, words, sizeof(all));
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&all, own[i]);
	signal_mask(&all, &section->signals);
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
		signal_mask(&section->signals, NULL);
	pthread_setcancelstate(section->cancel_state, NULL);
	errno = err;
}
