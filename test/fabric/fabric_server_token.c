/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files of the tokens of a fabric server over TCP. */
#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "remote/tcp.h"
#include "../support/server_rig.h"

static char folder[32];
static char token[64];

static int folder_make(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/ibsa-token-XXXXXX");
	snprintf(token, sizeof(token), "%s/token", mkdtemp(folder));
	return 0;
}

static int folder_remove(void **state)
{
	(void)state;
	return unlink(token) || rmdir(folder);
}

/*
 * The owner of a file can read it. A client may use the file of the user that
 * has started its container.
 */
static void a_token_of_another_user_is_refused(void **state)
{
	struct ibsa_error error = { .text = "" };
	struct tcp_token made, read;

	(void)state;
	assert_int_equal(server_try("tcp:0", token, NULL), 0);
	if (geteuid())
		skip();
	assert_int_equal(ibsa__token_read(token, TOKEN_OWN, NULL, &made), 0);
	assert_int_equal(chown(token, 1000, (gid_t)-1), 0);
	assert_int_equal(ibsa__token_read(token, TOKEN_ANY, NULL, &read), 0);
	assert_memory_equal(&read, &made, sizeof(read));
	assert_int_equal(server_try("tcp:0", token, &error), -EACCES);
	assert_non_null(strstr(error.text, "belongs to another user"));
}

/*
 * Another server, which starts at the same time with the same file, finds no
 * file or a whole token.
 */
static void a_token_is_whole_when_it_appears(void **state)
{
	union {
		struct inotify_event event;
		char bytes[4096];
	} buffer;
	const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	unsigned int seen = 0;
	ssize_t got, at = 0;

	(void)state;
	assert_true(inotify_add_watch(fd, folder,
				      IN_CREATE | IN_MODIFY | IN_DELETE) >= 0);
	assert_int_equal(server_try("tcp:0", token, NULL), 0);
	got = read(fd, &buffer, sizeof(buffer));
	while (at < got) {
		const struct inotify_event *event =
			(const void *)(buffer.bytes + at);

		if (!strcmp(event->name, "token"))
			seen |= event->mask;
		at += (ssize_t)(sizeof(*event) + event->len);
	}
	assert_int_equal(seen, IN_CREATE);
	close(fd);
}

static void a_token_that_exists_is_used(void **state)
{
	struct tcp_token first, second;

	(void)state;
	assert_int_equal(server_try("tcp:0", token, NULL), 0);
	assert_int_equal(ibsa__token_read(token, TOKEN_OWN, NULL, &first), 0);
	assert_int_equal(server_try("tcp:0", token, NULL), 0);
	assert_int_equal(ibsa__token_read(token, TOKEN_OWN, NULL, &second), 0);
	assert_memory_equal(&first, &second, sizeof(first));
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_token_of_another_user_is_refused),
		TEST(a_token_is_whole_when_it_appears),
		TEST(a_token_that_exists_is_used),
	};

	unsetenv("IBSA_FABRIC");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
