/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of these GIDs can this port reach?
 *
 *	cc reach.c $(pkg-config --cflags --libs ibsa) -o reach
 *	IBSA_FABRIC=/usr/share/ibsa/fabrics/fat-tree-16.net ./reach fe80::...
 *
 * A batch of ten or ten thousand GIDs keeps as many queries in flight as the
 * client's window allows.
 */
#include <ibsa/reach.h>
#include <ibsa/text.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct progress {
	char **names;
	size_t left;
	int status; /* exit status */
};

/* Called once for each GID, from inside ibsa_wait(). */
static void result_print(const struct ibsa_reach_answer *answer, void *arg)
{
	struct progress *progress = arg;
	const char *name = progress->names[answer->index];

	progress->left = answer->left;
	if (answer->reach == IBSA_REACH_YES) {
		printf("%s yes\n", name);
		return;
	}
	progress->status = 1;
	if (answer->reach == IBSA_REACH_NO)
		printf("%s no\n", name);
	else if (answer->err)
		printf("%s unknown: %s\n", name, strerror(-answer->err));
	else
		printf("%s unknown: %s\n", name,
		       ibsa_status_text(answer->status));
}

static int gids_check(struct ibsa_client *client, const struct ibsa_gid *gids,
		      struct progress *progress)
{
	int err = ibsa_reach_start(client, NULL, gids, progress->left,
				   result_print, progress, NULL);

	while (err == 0 && progress->left > 0)
		err = ibsa_wait(client, -1);
	return err;
}

static struct ibsa_gid *gids_parse(char **names, size_t count)
{
	struct ibsa_gid *gids = calloc(count, sizeof(*gids));

	for (size_t i = 0; gids && i < count; i++) {
		if (ibsa_gid_parse(names[i], &gids[i]) == 0)
			continue;
		fprintf(stderr, "'%s' is not a GID\n", names[i]);
		free(gids);
		gids = NULL;
	}
	return gids;
}

int main(int argc, char **argv)
{
	struct progress progress = { .names = argv + 1,
				     .left = (size_t)argc - 1 };
	struct ibsa_client *client;
	struct ibsa_error error;
	struct ibsa_gid *gids;
	int err;

	if (argc < 2) {
		fprintf(stderr, "usage: %s GID...\n", argv[0]);
		return 2;
	}
	gids = gids_parse(progress.names, progress.left);
	if (!gids)
		return 2;
	err = ibsa_open(NULL, &error, &client);
	if (err != 0) {
		fprintf(stderr, "%s\n", error.text);
		free(gids);
		return 1;
	}
	err = gids_check(client, gids, &progress);
	if (err != 0)
		fprintf(stderr, "cannot check the GIDs: %s\n", strerror(-err));
	ibsa_close(client);
	free(gids);
	return err ? 1 : progress.status;
}
