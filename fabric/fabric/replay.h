/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric whose SA returns the answers of a capture. */
#ifndef FABRIC_CAPTURE_REPLAY_H
#define FABRIC_CAPTURE_REPLAY_H

#include "fabric/fabric/fabric.h"
#include "fabric/sa/sa.h"
#include "fabric/capture/recording.h"

/* Whether a file is a capture, valid or not, instead of a topology file. */
bool ibsa__is_capture(const char *path);

/* Load a capture, as ibsa_fabric_load() loads a topology. */
int ibsa__replay_load(const char *path,
		      const struct ibsa_fabric_options *options,
		      struct ibsa_error *error,
		      struct ibsa_fabric **out) IBSA_MUST_USE;

void ibsa__replay_done(struct recording *recording);

#endif
