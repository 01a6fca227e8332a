/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A lock in memory that forked children share. */
#ifndef REMOTE_SHARED_LOCK_H
#define REMOTE_SHARED_LOCK_H

#include <pthread.h>

/*
 * Initialise a lock which returns EOWNERDEAD if a process ended while it held
 * the lock. Return: 0 or -errno.
 */
static inline int shared_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;
	int err = pthread_mutexattr_init(&attributes);

	if (err)
		return -err;
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	err = pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return -err;
}

#endif
