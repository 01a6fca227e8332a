/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables that the embedded SA builds in slices. */
#include <stdlib.h>

#include <ibsa/types.h>

#include "fabric/fabric/fabric.h"
#include "fabric/sa/job.h"
#include "support.h"
#include "wire/mad.h"

enum { HOSTS = 40 };

/* Return: the text of a fabric with one switch, to be freed. */
static char *fabric_text(void)
{
	char *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	assert_non_null(file);
	fprintf(file, "Switch %d \"S\"\n", HOSTS);
	for (int i = 1; i <= HOSTS; i++)
		fprintf(file, "[%d] \"H%d\"[1]\n", i, i);
	for (int i = 1; i <= HOSTS; i++)
		fprintf(file, "\nCa 1 \"H%d\"\n[1] \"S\"[%d]\n", i, i);
	fclose(file);
	return text;
}

static int setup(void **state)
{
	static struct bench bench;
	char *text = fabric_text();

	bench_start_text(&bench, text, "H1", NULL);
	free(text);
	*state = &bench;
	return 0;
}

static int teardown(void **state)
{
	bench_stop(*state);
	return 0;
}

static void request_make(struct bench *bench, uint16_t attribute)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, attribute, 0);
	bench->request[MAD_SM_KEY + 7] = 1;
}

/* Answer bench->request, in slices that end at once, or as a whole. */
static struct sa_reply answer(struct bench *bench, bool is_sliced,
			      uint8_t room[IBSA_MAD_BYTES],
			      unsigned int *out_slices)
{
	struct sa *sa = &bench->fabric->first.sa;
	const struct ibsa_address to = bench_sa(bench);
	const struct sa_request request = { .to = &to, .mad = bench->request };
	struct sa_reply reply = { .bytes = room, .room = IBSA_MAD_BYTES };
	struct sa_slice slice = { .until_ns = 0 };

	*out_slices = 0;
	do {
		assert_true(ibsa__sa_answer(sa, &request, &reply,
					    is_sliced ? &slice : NULL));
		++*out_slices;
	} while (slice.is_paused);
	return reply;
}

static void slices_make_the_same_table(void **state)
{
	static const uint16_t attributes[] = {
		0x11, 0x12, 0x13, 0x14, 0x15, 0x17, 0x18, 0x20,
		0x30, 0x31, 0x33, 0x35, 0x36, 0x38, 0xf3,
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]);
	     i++) {
		uint8_t rooms[2][IBSA_MAD_BYTES];
		struct sa_reply whole, sliced;
		unsigned int count;

		request_make(bench, attributes[i]);
		whole = answer(bench, false, rooms[0], &count);
		sliced = answer(bench, true, rooms[1], &count);
		assert_int_equal(sliced.len, whole.len);
		assert_memory_equal(sliced.bytes, whole.bytes, whole.len);
		if (attributes[i] == 0x35)
			assert_in_range(count, HOSTS * HOSTS / 32, UINT32_MAX);
		ibsa__sa_reply_done(&whole);
		ibsa__sa_reply_done(&sliced);
	}
}

static bool client_find(void *arg, const uint8_t *mad, struct sa_client **out)
{
	(void)mad;
	*out = arg;
	return true;
}

/* Send a request for all paths, whose table is then a job of @client. */
static void job_start(struct bench *bench, struct sa_client *client)
{
	sa_client_init(client);
	client->until_ns = 0;
	bench->fabric->first.sa.slicer = (struct sa_slicer){ client_find,
							     client };
	request_make(bench, 0x35);
	bench_send(bench);
	assert_true(sa_client_has_jobs(client));
}

static void job_complete(struct bench *bench, struct sa_client *client)
{
	while (sa_client_has_jobs(client))
		ibsa__sa_jobs_continue(&bench->fabric->first.sa, client);
	assert_true(bench_receive(bench));
}

/* Without the restart, the table would have paths to the lost host. */
static void a_change_restarts_a_table(void **state)
{
	struct bench *bench = *state;
	struct sa_client client;

	job_start(bench, &client);
	for (int i = 0; i < 20; i++)
		ibsa__sa_jobs_continue(&bench->fabric->first.sa, &client);
	bench_set_link(bench, "H40", 1, false);
	job_complete(bench, &client);
	assert_int_equal(bench_count(bench), HOSTS * HOSTS);
	job_start(bench, &client);
	job_complete(bench, &client);
	assert_int_equal(bench_count(bench), HOSTS * HOSTS);
}

static void endless_changes_make_the_sa_busy(void **state)
{
	struct bench *bench = *state;
	struct sa_client client;

	job_start(bench, &client);
	for (int i = 0; i < 9; i++) {
		bench_set_link(bench, "H40", 1, i % 2);
		ibsa__sa_jobs_continue(&bench->fabric->first.sa, &client);
	}
	assert_false(sa_client_has_jobs(&client));
	assert_true(bench_receive(bench));
	assert_int_equal(ibsa_be16(bench->answer.mad + MAD_STATUS),
			 IBSA_STATUS_BUSY);
}

/* The job of a client that has gone is given up. */
static void a_job_can_be_ended(void **state)
{
	struct bench *bench = *state;
	const uint64_t unanswered = bench_stats(bench).unanswered;
	struct sa_client client;

	job_start(bench, &client);
	assert_true(ibsa__sa_jobs_memory(&client));
	ibsa__sa_jobs_end(&bench->fabric->first.sa, &client);
	assert_false(sa_client_has_jobs(&client));
	assert_int_equal(bench_stats(bench).unanswered, unanswered + 1);
}

/* The SM stops: its SA sends no answer any more. */
static void a_stopped_sa_completes_no_table(void **state)
{
	struct bench *bench = *state;
	struct sa_client client;

	job_start(bench, &client);
	ibsa_fabric_sa_set(bench->fabric, false);
	ibsa__sa_jobs_continue(&bench->fabric->first.sa, &client);
	assert_false(sa_client_has_jobs(&client));
	assert_false(bench_receive(bench));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(slices_make_the_same_table,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_change_restarts_a_table,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			endless_changes_make_the_sa_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(a_job_can_be_ended, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_stopped_sa_completes_no_table,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
