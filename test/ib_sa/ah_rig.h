/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Simulated devices of every kind, and paths for them. The system's replies
 * about routes are simulated, by the linker's --wrap; device/route.c tests real
 * ones.
 */
#ifndef IB_SA_AH_RIG_H
#define IB_SA_AH_RIG_H

#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/ib_sa.h>

#include "test/support/device_tree.h"

/* The text of GID 3 as its sysfs file has it. */
#define AH_GID_3 "fd00:0000:0000:0000:0000:0000:0000:0003\n"

/* GIDs 0 and 3 of the device, and one that it does not have. */
extern const union ib_gid ah_gid_0;
extern const union ib_gid ah_gid_3;
extern const union ib_gid ah_remote;

/*
 * The system's reply to a request for a route, and the interface of the
 * request.
 */
struct ah_route {
	int err;
	unsigned int calls;
	bool is_routed;
	uint32_t ifindex;
};

extern struct ah_route ah_route;

struct ah_bench {
	struct tree tree;
	struct ib_device *device;
};

/* A device with a port of LMC 2, and GIDs 0 and 3. */
struct ah_bench *ah_start_ib(void);
struct ah_bench *ah_start_roce(void);
struct ah_bench *ah_start_opa(void);
void ah_stop(struct ah_bench *bench);

/* Change one file of its port. */
void ah_set(struct ah_bench *bench, const char *file, const char *text);

/*
 * Return: a path record from GID 3 of the device to a GID that it does not
 * have, without hops.
 */
struct sa_path_rec ah_ib_path(void);
struct sa_path_rec ah_opa_path(uint32_t dlid);
struct sa_path_rec ah_roce_path(enum sa_path_rec_type type);

/* Call ib_init_ah_attr_from_path() at port 1, with NULL as the GID entry. */
int ah_init(struct ah_bench *bench, struct sa_path_rec *rec,
	    struct rdma_ah_attr *attr);

#endif
