/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends queries whose replies can be compared with the right ones.
 *
 * usage: query-both DIRECT VIA ROUNDS
 *
 * Reads the NodeRecord of each LID and the path to it at the fabric server
 * DIRECT. Then it sends the same queries to VIA, all at a time, ROUNDS times.
 * At VIA, bytes may be lost or changed. A query may fail there, but it must end
 * once, within its deadline and LATE_MS, and its reply must not be the one that
 * DIRECT gave to another query. A reply that DIRECT never gave is counted as
 * damaged: bytes of its MAD are missing. The exit status is 1 if something was
 * wrong, 2 if DIRECT accepted no client, 3 if VIA accepted none.
 */
#include <ibsa/ibsa.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	LIDS = 6,	    /* of the four hosts and two switches */
	KINDS = 2,	    /* NodeRecord and PathRecord */
	DEADLINE_MS = 1000, /* of each query */
	LATE_MS = 1500,	    /* for a busy machine */
	RECORD_MAX = 256,
};

struct right {
	uint8_t bytes[RECORD_MAX];
	size_t len;
};

struct asked {
	const struct right (*rights)[KINDS];
	unsigned int lid;
	unsigned int kind;
	unsigned int calls;
	uint64_t start_ms;
	struct right got;
};

struct counts {
	unsigned int right, failed, damaged, wrong;
};

static uint64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int client_open(const char *fabric, struct ibsa_client **out)
{
	const struct ibsa_options options = {
		.fabric = fabric,
		.device = "node1",
		.deadline_ms = DEADLINE_MS,
		.window = LIDS * KINDS,
	};
	const uint64_t start_ms = clock_ms();
	struct ibsa_error error = { .text = "" };
	int err = ibsa_open(&options, &error, out);

	if (clock_ms() - start_ms > 4 * DEADLINE_MS + LATE_MS) {
		printf("ibsa_open() took %u ms\n",
		       (unsigned int)(clock_ms() - start_ms));
		return 1;
	}
	return err;
}

/*
 * Copy the record of the reply; copy nothing if the query failed or the reply
 * has no record.
 */
static void reply_note(const struct ibsa_reply *reply, void *arg)
{
	struct asked *asked = arg;

	asked->calls++;
	asked->got.len = 0;
	if (reply->err || reply->status || !reply->count)
		return;
	asked->got.len = reply->stride < RECORD_MAX ? reply->stride
						    : RECORD_MAX;
	memcpy(asked->got.bytes, reply->records, asked->got.len);
}

static int query_submit(struct ibsa_client *client, struct asked *asked)
{
	struct ibsa_node node = { .lid = (uint16_t)asked->lid };
	struct ibsa_path path = { .dlid = (uint16_t)asked->lid,
				  .numb_path = 1 };
	struct ibsa_query query = { .record = &ibsa_node_record,
				    .match = &node,
				    .mask = IBSA_NODE_CM(lid),
				    .no_sharing = true };

	if (asked->kind) {
		path.slid = 1;
		query.record = &ibsa_path_record;
		query.match = &path;
		query.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid) |
			     IBSA_PATH_CM(numb_path);
	}
	asked->start_ms = clock_ms();
	return ibsa_query_start(client, &query, reply_note, asked, NULL);
}

static bool is_equal(const struct right *a, const struct right *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

/* Whether a wrong reply would be the correct reply to another query. */
static bool is_of_another(const struct asked *asked)
{
	for (unsigned int lid = 1; lid <= LIDS; lid++) {
		for (unsigned int kind = 0; kind < KINDS; kind++) {
			if (!is_equal(&asked->got, &asked->rights[lid][kind]))
				continue;
			printf("query %u of LID %u has the reply to query %u "
			       "of LID %u\n",
			       asked->kind, asked->lid, kind, lid);
			return true;
		}
	}
	return false;
}

static void ended(const struct asked *asked, struct counts *counts)
{
	const uint64_t took_ms = clock_ms() - asked->start_ms;

	if (took_ms > DEADLINE_MS + LATE_MS) {
		printf("query %u of LID %u took %u ms\n", asked->kind,
		       asked->lid, (unsigned int)took_ms);
		counts->wrong++;
	} else if (!asked->got.len) {
		counts->failed++;
	} else if (is_equal(&asked->got,
			    &asked->rights[asked->lid][asked->kind])) {
		counts->right++;
	} else if (is_of_another(asked)) {
		counts->wrong++;
	} else {
		counts->damaged++;
	}
}

/*
 * Wait until all queries have ended, at most 10 deadlines, and check that the
 * callback of each came once.
 */
static void all_await(struct ibsa_client *client, struct asked *all,
		      size_t count, struct counts *counts)
{
	const uint64_t start_ms = clock_ms();
	bool is_counted[LIDS * KINDS] = { false };
	size_t left = count;

	while (left && clock_ms() - start_ms < 10 * (uint64_t)DEADLINE_MS) {
		(void)!ibsa_wait(client, 100);
		for (size_t i = 0; i < count; i++) {
			if (is_counted[i] || !all[i].calls)
				continue;
			is_counted[i] = true;
			left--;
			ended(&all[i], counts);
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (all[i].calls == 1)
			continue;
		printf("query %u of LID %u was called back %u times\n",
		       all[i].kind, all[i].lid, all[i].calls);
		counts->wrong++;
	}
}

static void round_submit(struct ibsa_client *client,
			 const struct right (*rights)[KINDS],
			 struct counts *counts)
{
	struct asked all[LIDS * KINDS] = { { .calls = 0 } };
	size_t count = 0;

	for (unsigned int i = 0; i < LIDS * KINDS; i++) {
		struct asked *asked = &all[count];

		asked->rights = rights;
		asked->lid = i % LIDS + 1;
		asked->kind = i / LIDS;
		if (query_submit(client, asked))
			counts->failed++;
		else
			count++;
	}
	all_await(client, all, count, counts);
	/* If no query could be sent, wait 100 ms before the next round. */
	if (!count)
		(void)!ibsa_wait(client, 100);
}

static int rights_read(const char *fabric, struct right (*rights)[KINDS])
{
	struct ibsa_client *client = NULL;

	if (client_open(fabric, &client))
		return -1;
	for (unsigned int i = 0; i < LIDS * KINDS; i++) {
		struct asked asked = { .lid = i % LIDS + 1, .kind = i / LIDS };

		if (query_submit(client, &asked))
			break;
		while (!asked.calls)
			(void)!ibsa_wait(client, 100);
		if (!asked.got.len)
			printf("no record of LID %u\n", asked.lid);
		rights[asked.lid][asked.kind] = asked.got;
	}
	ibsa_close(client);
	return 0;
}

int main(int argc, char **argv)
{
	static struct right rights[LIDS + 1][KINDS];
	struct counts counts = { .wrong = 0 };
	struct ibsa_client *client = NULL;
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 4 || rights_read(argv[1], rights)) {
		printf("usage: query-both DIRECT VIA ROUNDS\n");
		return 2;
	}
	err = client_open(argv[2], &client);
	if (err)
		return err > 0 ? 1 : 3;
	for (int i = atoi(argv[3]); i > 0; i--)
		round_submit(client, (const struct right(*)[KINDS])rights,
			     &counts);
	ibsa_close(client);
	printf("%u right, %u failed, %u damaged, %u wrong\n", counts.right,
	       counts.failed, counts.damaged, counts.wrong);
	return counts.wrong ? 1 : 0;
}
