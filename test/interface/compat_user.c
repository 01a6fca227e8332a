/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Path lookups in the code of a kernel module: its include line, its types, a
 * static client. Only the functions that wait are those of user space.
 *
 * usage: compat_user NAME LID UNUSED_LID - the device; a LID to which there is
 * a path, and a LID that no port has
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

/* Return: the status that the callback received. */
static int path_rec_wait(struct path_lookup *lookup)
{
	while (sem_wait(&lookup->done))
		;
	sem_destroy(&lookup->done);
	return lookup->status;
}

static int lookups_print(struct ib_device *device, u16 lid, u16 unused_lid)
{
	struct path_lookup path;
	struct path_lookup no_path;
	int err = path_rec_start(&path, device, 1, lid, GFP_KERNEL);

	if (!err)
		err = path_rec_wait(&path);
	if (err)
		return err;
	printf("LID %u\n", be32toh(sa_path_get_dlid(&path.path)));
	err = path_rec_start(&no_path, device, 1, unused_lid, GFP_ATOMIC);
	if (err)
		return err;
	printf("unused LID: %d\n", path_rec_wait(&no_path));
	ib_sa_cancel_query(no_path.query_id, no_path.query);
	return 0;
}

static struct ib_device *device_find(const char *name)
{
	struct ib_device *device;
	int err = ibsa_ib_device_get(name, &device);

	return err ? (struct ib_device *)(intptr_t)err : device;
}

int main(int argc, char **argv)
{
	struct ib_device *device;
	int err;

	if (argc != 4)
		return 2;
	device = device_find(argv[1]);
	if (IS_ERR(device)) {
		fprintf(stderr, "%s: error %ld\n", argv[1], PTR_ERR(device));
		return 1;
	}
	ib_sa_register_client(&sa_client);
	err = lookups_print(device, (u16)atoi(argv[2]), (u16)atoi(argv[3]));
	if (err)
		fprintf(stderr, "no path: error %d\n", err);
	ib_sa_unregister_client(&sa_client);
	ibsa_ib_device_put(device);
	return err != 0;
}
