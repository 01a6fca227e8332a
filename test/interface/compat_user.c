/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A path cache in miniature, written as a kernel module writes it: its
 * include, its types, a static client. Only what waits is user space's.
 *
 * usage: compat_user NAME LID NOBODY - the device; where a path leads, and
 * where none does
 */
#include <rdma/ib_sa.h>

#include <endian.h>
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static struct ib_sa_client sa_client;

struct path_lookup {
	struct sa_path_rec path;
	struct ib_sa_query *query;
	int query_id;
	int status;
	sem_t done;
};

static void path_rec_done(int status, struct sa_path_rec *resp, void *context)
{
	struct path_lookup *lookup = context;

	if (!status)
		lookup->path = *resp;
	lookup->status = status;
	sem_post(&lookup->done);
}

static int path_rec_start(struct path_lookup *lookup, struct ib_device *device,
			  u8 port, u16 lid, gfp_t gfp_mask)
{
	const ib_sa_comp_mask comp_mask = IB_SA_PATH_REC_SLID |
					  IB_SA_PATH_REC_DLID |
					  IB_SA_PATH_REC_NUMB_PATH;

	lookup->path = (struct sa_path_rec){ .numb_path = 1 };
	lookup->path.rec_type = SA_PATH_REC_TYPE_IB;
	lookup->path.ib.slid = htobe16(1);
	sa_path_set_dlid(&lookup->path, lid);
	sem_init(&lookup->done, 0, 0);
	lookup->query_id = ib_sa_path_rec_get(&sa_client, device, port,
					      &lookup->path, comp_mask, 5000,
					      gfp_mask, path_rec_done, lookup,
					      &lookup->query);
	return lookup->query_id < 0 ? lookup->query_id : 0;
}

/* Return: what the callback was told. */
static int path_rec_wait(struct path_lookup *lookup)
{
	while (sem_wait(&lookup->done))
		;
	sem_destroy(&lookup->done);
	return lookup->status;
}

static int look_up(struct ib_device *device, u16 lid, u16 nobody)
{
	struct path_lookup there;
	struct path_lookup nowhere;
	int err = path_rec_start(&there, device, 1, lid, GFP_KERNEL);

	if (!err)
		err = path_rec_wait(&there);
	if (err)
		return err;
	printf("LID %u\n", be32toh(sa_path_get_dlid(&there.path)));
	err = path_rec_start(&nowhere, device, 1, nobody, GFP_ATOMIC);
	if (err)
		return err;
	printf("nobody: %d\n", path_rec_wait(&nowhere));
	ib_sa_cancel_query(nowhere.query_id, nowhere.query);
	return 0;
}

static struct ib_device *find_device(const char *name)
{
	struct ib_device *device;
	int err = ibsa_device_get(name, &device);

	return err ? (struct ib_device *)(intptr_t)err : device;
}

int main(int argc, char **argv)
{
	struct ib_device *device;
	int err;

	if (argc != 4)
		return 2;
	device = find_device(argv[1]);
	if (IS_ERR(device)) {
		fprintf(stderr, "%s: error %ld\n", argv[1], PTR_ERR(device));
		return 1;
	}
	ib_sa_register_client(&sa_client);
	err = look_up(device, (u16)atoi(argv[2]), (u16)atoi(argv[3]));
	if (err)
		fprintf(stderr, "no path: error %d\n", err);
	ib_sa_unregister_client(&sa_client);
	ibsa_device_put(device);
	return err != 0;
}
