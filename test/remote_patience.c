/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabric servers that say nothing: how long a program waits, made short. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibsa/fabric_server.h>

int __real_setsockopt(int fd, int level, int name, const void *value,
		      socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value,
		      socklen_t len);

int __wrap_setsockopt(int fd, int level, int name, const void *value,
		      socklen_t len)
{
	const struct timeval moment = { .tv_usec = 20000 };

	if (name == SO_RCVTIMEO || name == SO_SNDTIMEO)
		value = &moment;
	return __real_setsockopt(fd, level, name, value, len);
}

/* A socket that listens, and has room for one in its line. */
struct stopped {
	char folder[32];
	char name[64];
	struct sockaddr_un address;
	int fd;
};

static void stopped_start(struct stopped *stopped)
{
	*stopped = (struct stopped){
		.folder = "/tmp/ibsa-XXXXXX",
		.address.sun_family = AF_UNIX,
		.fd = socket(AF_UNIX, SOCK_STREAM, 0),
	};
	assert_non_null(mkdtemp(stopped->folder));
	snprintf(stopped->name, sizeof(stopped->name), "unix:%s/s",
		 stopped->folder);
	strcpy(stopped->address.sun_path, stopped->name + strlen("unix:"));
	assert_int_equal(bind(stopped->fd, (struct sockaddr *)&stopped->address,
			      sizeof(stopped->address)),
			 0);
	assert_int_equal(listen(stopped->fd, 0), 0);
}

static void stopped_end(struct stopped *stopped)
{
	close(stopped->fd);
	assert_int_equal(unlink(stopped->address.sun_path), 0);
	assert_int_equal(rmdir(stopped->folder), 0);
}

static void check_late(const struct stopped *stopped)
{
	struct ibsa_error error = { .text = "" };

	assert_int_equal(ibsa_fabric_command(stopped->name, "stats", NULL, 0,
					     &error),
			 -ETIMEDOUT);
	assert_non_null(strstr(error.text, "answer"));
	assert_non_null(strstr(error.text, stopped->address.sun_path));
}

static void who_lets_in_and_says_nothing_does_not_answer(void **state)
{
	struct stopped stopped;

	(void)state;
	stopped_start(&stopped);
	check_late(&stopped);
	stopped_end(&stopped);
}

static void who_lets_nobody_in_does_not_answer(void **state)
{
	const int first = socket(AF_UNIX, SOCK_STREAM, 0);
	struct stopped stopped;

	(void)state;
	stopped_start(&stopped);
	assert_int_equal(connect(first, (struct sockaddr *)&stopped.address,
				 sizeof(stopped.address)),
			 0);
	check_late(&stopped);
	close(first);
	stopped_end(&stopped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_lets_in_and_says_nothing_does_not_answer),
		cmocka_unit_test(who_lets_nobody_in_does_not_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
