/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client on an embedded fabric, and the reports of a batch. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test/client/reach_support.h"

/* Write a topology in which all hosts are connected to one switch. */
static void write_star(char *out, size_t size)
{
	size_t len = (size_t)snprintf(out, size, "Switch %d \"hub\"\n", HOSTS);

	for (int i = 1; i <= HOSTS; i++)
		len += (size_t)snprintf(out + len, size - len,
					"[%d] \"host%d\"[1] # 4xEDR\n", i, i);
	for (int i = 1; i <= HOSTS; i++)
		len += (size_t)snprintf(out + len, size - len,
					"Ca 1 \"host%d\"\n", i);
	assert_true(len < size);
}

void rig_start(struct rig *rig, const struct ibsa_options *options)
{
	const struct ibsa_fabric_options fabric_options = {
		.virtual_clock = true,
		.latency_us = 100,
		.seed = 1,
	};
	struct ibsa_options mine = { .seed = 1 };
	char text[HOSTS * 64];

	if (options)
		mine = *options;
	if (!mine.window)
		mine.window = WINDOW;
	mine.window_min = mine.window;
	write_star(text, sizeof(text));
	assert_int_equal(ibsa_fabric_parse(text, strlen(text), &fabric_options,
					   NULL, &rig->fabric),
			 0);
	mine.on = rig->fabric;
	assert_int_equal(ibsa_open(&mine, NULL, &rig->client), 0);
	for (size_t i = 0; i < HOSTS; i++) {
		struct ibsa_fabric_port port;

		assert_int_equal(ibsa_fabric_port_at(rig->fabric, i, &port), 0);
		rig->gids[i] = port.state.gid;
	}
}

void rig_stop(struct rig *rig)
{
	assert_int_equal(ibsa_close(rig->client), 0);
	ibsa_fabric_put(rig->fabric);
}

void note(const struct ibsa_reach_answer *answer, void *arg)
{
	struct seen *seen = arg;
	struct ibsa_reach_answer *mine = &seen->answers[answer->index];

	assert_in_range(answer->index, 0, seen->count - 1);
	assert_int_equal(mine->tries + (unsigned int)mine->reach, 0);
	assert_int_equal(mine->err, 0);
	assert_memory_equal(&answer->gid, &seen->rig->gids[answer->index],
			    sizeof(answer->gid));
	*mine = *answer;
	seen->told++;
	assert_int_equal(answer->left, seen->count - seen->told);
	if (seen->told == seen->stop_after)
		seen->stop_err = ibsa_reach_stop(seen->batch);
}

int rig_each(struct rig *rig, size_t count, struct seen *seen)
{
	const struct ibsa_reach_options options = { .why = seen->why };

	seen->rig = rig;
	seen->count = count;
	return ibsa_reach_start(rig->client, &options, rig->gids, count, note,
				seen, &seen->batch);
}

void rig_finish(struct seen *seen)
{
	while (seen->told < seen->count)
		assert_int_equal(ibsa_wait(seen->rig->client, -1), 0);
}

size_t told_as(const struct seen *seen, enum ibsa_reach reach)
{
	size_t count = 0;

	for (size_t i = 0; i < seen->count; i++)
		count += seen->answers[i].reach == reach;
	return count;
}
