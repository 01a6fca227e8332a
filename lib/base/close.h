/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Closes descriptors that another process has sent. The last close() of a file
 * may block: that of a socket with SO_LINGER and unsent data, as long as the
 * sender wishes.
 *
 * Source: socket(7), SO_LINGER; unix(7), SCM_RIGHTS.
 */
#ifndef BASE_CLOSE_H
#define BASE_CLOSE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Close a descriptor in a thread of its own, which then calls @done with @arg;
 * @done may be NULL. If no thread can be created, the descriptor stays open and
 * @done is called at once.
 */
void ibsa__close_apart(int fd, void (*done)(void *arg), void *arg);

/*
 * Whether closing the Unix socket @fd may close other files: messages that were
 * not received may carry descriptors.
 */
bool ibsa__socket_holds_fds(int fd);

/*
 * Close a Unix socket: in a thread of its own if it holds descriptors. Sets *@fd
 * to -1; nothing happens if *@fd is -1.
 */
void ibsa__socket_close(int *fd);

/*
 * Receive bytes from a Unix socket without waiting, as recv() does, but never a
 * message that carries descriptors: the kernel would close them in this thread.
 * Such a message stays in the socket, and the error is EPROTO.
 */
ssize_t ibsa__socket_recv(int fd, void *to, size_t len);

/*
 * Start a detached thread that receives no signals. Return: whether the thread
 * runs.
 */
bool ibsa__thread_start(void *(*run)(void *), void *arg);

#endif
