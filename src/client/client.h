/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What of a client the layers above it may reach past its public calls. */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <ibsa/ibsa.h>

struct ibsa__engine;
struct ibsa__reaches;

/* Its engine: for alarms, in the thread that has the client. */
struct ibsa__engine *ibsa__client_engine(struct ibsa_client *client);

/* Its batches. */
struct ibsa__reaches *ibsa__client_reaches(struct ibsa_client *client);

#endif
