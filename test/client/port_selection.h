/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a test asks: the embedded fabric on a virtual clock, a fabric server,
 * or a transport that holds requests as the kernel does. The SA takes 20 ms
 * for each request.
 */
#ifndef TEST_PORT_SELECTION_H
#define TEST_PORT_SELECTION_H

#include <ibsa/ib_sa.h>
#include <ibsa/sim.h>

#include "test/client/holding.h"
#include "test/support/server_rig.h"

enum { PLACE_SA_US = 20000 };

struct place {
	struct server_rig *server;
	struct ibsa_fabric *fabric;
	struct holding *holding;
	struct ibsa_options options; /* to open a client there */
};

/* The transport of place_holding(), begun anew by each call of that. */
extern struct holding place_held;

struct place place_embedded(void);
struct place port_at_server(void);
struct place place_holding(void);
void place_end(struct place *place);

/* Two hosts, LID 1 with the SA and LID 2. */
struct ibsa_fabric *place_fabric(bool is_virtual);

/* The SA does not answer, or does again. */
void place_silence(struct place *place, bool silent);

/* Of paths that are asked through a device: called back, and answered. */
struct place_paths {
	unsigned int calls;
	unsigned int answered;
};

/* For ib_sa_path_rec_get(); @context is a struct place_paths. */
void place_path_told(int status, struct sa_path_rec *resp, void *context);

/* A client with the options of the place. */
struct ibsa_client *place_open(const struct place *place);

#endif
