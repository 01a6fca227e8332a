/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Closes descriptors that another process has sent, so that close() may block.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/close.h"

struct close_call {
	int fd;
	void (*done)(void *arg);
	void *arg;
};

static void *close_and_call(void *arg)
{
	const struct close_call call = *(struct close_call *)arg;

	ibsa__free(arg);
	close(call.fd);
	call.done(call.arg);
	return NULL;
}

bool ibsa__thread_start(void *(*run)(void *), void *arg)
{
	pthread_attr_t detached;
	sigset_t all, before;
	pthread_t thread;
	bool runs;

	if (pthread_attr_init(&detached))
		return false;
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	runs = !pthread_create(&thread, &detached, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&detached);
	return runs;
}

/*
 * Without @done, close() itself is the function of the thread: a program may
 * unload this library while the thread waits.
 */
static bool close_alone(int fd)
{
	void (*const function)(void) = (void (*)(void))close;

	return ibsa__thread_start((void *(*)(void *))function,
				  (void *)(intptr_t)fd);
}

void ibsa__close_apart(int fd, void (*done)(void *arg), void *arg)
{
	struct close_call *call;

	if (!done) {
		(void)close_alone(fd);
		return;
	}
	call = ibsa__calloc(1, sizeof(*call));
	if (call)
		*call = (struct close_call){ fd, done, arg };
	if (call && ibsa__thread_start(close_and_call, call))
		return;
	ibsa__free(call);
	done(arg);
}

/*
 * Peek at @len bytes without a buffer for descriptors. The kernel then sets
 * MSG_CTRUNC if a message carries descriptors; the message still holds them.
 * The peek ends at the first message with descriptors. Return: as recvmsg();
 * *@out_holds: a message carries descriptors.
 */
static ssize_t socket_peek(int fd, struct iovec *parts, size_t count,
			   bool *out_holds)
{
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = count };
	const ssize_t got = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT);

	*out_holds = got > 0 && message.msg_flags & MSG_CTRUNC;
	return got;
}

bool ibsa__socket_holds_fds(int fd)
{
	enum { PARTS = 64 };
	char room[4096]; /* a buffer for peeked bytes, which are not used */
	struct iovec parts[PARTS];
	int unread = 0;
	bool holds;

	for (int i = 0; i < PARTS; i++)
		parts[i] = (struct iovec){ room, sizeof(room) };
	if (ioctl(fd, FIONREAD, &unread) || !unread)
		return false;
	return unread > PARTS * (int)sizeof(room) ||
	       socket_peek(fd, parts, PARTS, &holds) < unread || holds;
}

void ibsa__socket_close(int *fd)
{
	if (*fd < 0)
		return;
	if (ibsa__socket_holds_fds(*fd))
		ibsa__close_apart(*fd, NULL, NULL);
	else
		close(*fd);
	*fd = -1;
}

ssize_t ibsa__socket_recv(int fd, void *to, size_t len)
{
	struct iovec part = { to, len };
	bool holds;
	const ssize_t got = socket_peek(fd, &part, 1, &holds);

	if (got <= 0)
		return got;
	if (holds) {
		errno = EPROTO;
		return -1;
	}
	return recv(fd, to, (size_t)got, MSG_DONTWAIT);
}
