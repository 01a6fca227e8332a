/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the registrations need of a client's umad file. */
#ifndef IBSAD_FILE_H
#define IBSAD_FILE_H

#include "ibsad/daemon.h"

struct client_file;

uid_t ibsad_file_user(const struct client_file *file);
uint32_t ibsad_file_port(const struct client_file *file);

/* Whether the file has registered an agent that receives Reports. */
bool ibsad_file_has_reports(const struct client_file *file);

/* Whether the user may have one more registration than @count. */
bool ibsad_file_may_register(const struct client_file *file, uint32_t count);

/* Continue with a request after OWNED_LATER, by another answer. */
void ibsad_file_continue(struct client_file *file, const uint8_t *packet,
			 size_t len, enum owned_answer answer);

#endif
