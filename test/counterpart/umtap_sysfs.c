/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of the preload that updates sysfs. ibsim copies sysfs once, when a
 * program starts, so the program would not notice that the SM has moved. This
 * preload reads the values that an SM can change from ibsim each time that a
 * program opens their file, as the kernel generates the content at each open.
 *
 * Source of the protocol: include/ibsim.h of ibsim 0.10; of the offsets: IBA
 * vol 1, 14.2.5.6 (PortInfo).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibsa/types.h>

enum {
	CONTROL_PORTINFO = 8,
	PORTINFO_BYTES = 64,
	ANSWER_S = 2,
	COPY_BYTES = 4096,

	LID = 16,
	SM_LID = 18,
	STATE = 32,
	LMC = 34,
	SM_SL = 36,
};

/* connect() with the names of ibsim's sockets. */
typedef int (*connect_fn)(int, const struct sockaddr_un *, socklen_t);

/* A request to ibsim's control socket, or its answer, in host byte order. */
struct control {
	uint32_t magic;
	uint32_t client;
	uint32_t type;
	uint32_t len;
	uint8_t data[PORTINFO_BYTES];
};

/* ibsim's name for this process, once it is connected. */
struct attachment {
	bool known;
	pid_t pid;
	uint32_t client;
	struct sockaddr_un control;
	socklen_t control_len;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct attachment attached;

static const uint32_t control_magic = 0xdeadbeef;
static const char sysfs_ports[] = "/sys/class/infiniband/ibsim0/ports/";

/*
 * Note the names of ibsim's two sockets when the process connects to them. Both
 * are in the abstract name space: "\0BASE:ctl" and "\0BASE:outN".
 */
static void note_name(const struct sockaddr_un *name, socklen_t len)
{
	const size_t from = offsetof(struct sockaddr_un, sun_path) + 1;
	const char *colon;
	char text[sizeof(name->sun_path)] = "";

	if (name->sun_family != AF_UNIX || len <= from || len > sizeof(*name) ||
	    name->sun_path[0])
		return;
	memcpy(text, name->sun_path + 1, len - from);
	text[sizeof(text) - 1] = '\0';
	colon = strrchr(text, ':');
	if (!colon)
		return;
	if (strcmp(colon, ":ctl") == 0) {
		attached.control = *name;
		attached.control_len = len;
	} else if (sscanf(colon, ":out%u", &attached.client) == 1) {
		attached.pid = getpid();
		attached.known = attached.control_len > 0;
	}
}

/*
 * Replaces the C library's function. @name has the type in its declaration,
 * which with _GNU_SOURCE is a union of pointers to all types of addresses.
 */
int connect(int fd, __CONST_SOCKADDR_ARG name, socklen_t len)
{
	connect_fn next;

	*(void **)&next = dlsym(RTLD_NEXT, "connect");
	pthread_mutex_lock(&lock);
	note_name(name.__sockaddr_un__, len);
	pthread_mutex_unlock(&lock);
	return next(fd, name.__sockaddr_un__, len);
}

/*
 * Return: a socket to ibsim, with a name that the system chooses; -1 on
 * failure.
 */
static int control_open(connect_fn next)
{
	const struct sockaddr_un any = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = ANSWER_S };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (bind(fd, &any, sizeof(any.sun_family)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)) == 0 &&
	    next(fd, &attached.control, attached.control_len) == 0)
		return fd;
	close(fd);
	return -1;
}

/*
 * Read the PortInfo of this process's port from ibsim. Return: false: ibsim
 * does not answer.
 */
static bool portinfo_query(uint8_t out[PORTINFO_BYTES])
{
	struct control control = {
		.magic = control_magic,
		.client = attached.client,
		.type = CONTROL_PORTINFO,
		.len = PORTINFO_BYTES,
	};
	connect_fn next;
	bool good;
	int fd;

	*(void **)&next = dlsym(RTLD_NEXT, "connect");
	fd = control_open(next);
	if (fd < 0)
		return false;
	good = send(fd, &control, sizeof(control), 0) == sizeof(control) &&
	       recv(fd, &control, sizeof(control), 0) == sizeof(control) &&
	       control.type == CONTROL_PORTINFO;
	close(fd);
	if (good)
		memcpy(out, control.data, PORTINFO_BYTES);
	return good;
}

/* Return: the text of a port state as in the kernel's sysfs. */
static const char *state_text(unsigned int state)
{
	static const char *const texts[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"
	};

	return state < sizeof(texts) / sizeof(texts[0]) ? texts[state]
							: "<unknown>";
}

/*
 * Write the content of the file @name of a port. Return: false: the SM does
 * not change this file.
 */
static bool content(const char *name, const uint8_t *info, char *out,
		    size_t size)
{
	if (strcmp(name, "lid") == 0)
		snprintf(out, size, "0x%x\n", ibsa_be16(info + LID));
	else if (strcmp(name, "sm_lid") == 0)
		snprintf(out, size, "0x%x\n", ibsa_be16(info + SM_LID));
	else if (strcmp(name, "sm_sl") == 0)
		snprintf(out, size, "%u\n", info[SM_SL] & 0xfU);
	else if (strcmp(name, "lid_mask_count") == 0)
		snprintf(out, size, "%u\n", info[LMC] & 0x7U);
	else if (strcmp(name, "state") == 0)
		snprintf(out, size, "%u: %s\n", info[STATE] & 0xfU,
			 state_text(info[STATE] & 0xfU));
	else
		return false;
	return true;
}

/*
 * Replace the file atomically, so that a reader gets either the old or the new
 * content.
 */
static void replace(const char *path, const char *text)
{
	char made[sizeof(".new") + COPY_BYTES];
	FILE *file;

	snprintf(made, sizeof(made), "%s.new", path);
	file = fopen(made, "we");
	if (!file || fputs(text, file) < 0 || fclose(file) ||
	    rename(made, path))
		abort();
}

/* The name of a port's file in the copy of sysfs, "1/sm_lid"; or NULL. */
static const char *port_file(const char *path)
{
	const char *name;

	if (strncmp(path, sysfs_ports, sizeof(sysfs_ports) - 1) != 0)
		return NULL;
	name = strchr(path + sizeof(sysfs_ports) - 1, '/');
	return name ? name + 1 : NULL;
}

static void renew(const char *path)
{
	const char *name = port_file(path);
	uint8_t info[PORTINFO_BYTES] = { 0 };
	char copy[COPY_BYTES];
	char text[64];

	if (!name || !content(name, info, text, sizeof(text)))
		return;
	pthread_mutex_lock(&lock);
	snprintf(copy, sizeof(copy), "./sys-%d/%s", (int)attached.pid, path);
	if (attached.known && access(copy, W_OK) == 0 && portinfo_query(info) &&
	    content(name, info, text, sizeof(text)))
		replace(copy, text);
	pthread_mutex_unlock(&lock);
}

int open(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...);
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(args, mode_t);
	va_end(args);
	*(void **)&next = dlsym(RTLD_NEXT, "open");
	renew(path);
	return next(path, flags, mode);
}
