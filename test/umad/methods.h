/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A simulated ib_umad registration, by the kernel's own header. */
#ifndef TEST_UMAD_METHODS_H
#define TEST_UMAD_METHODS_H

#include <stdbool.h>
#include <stdint.h>

enum { METHODS = 128, REGISTERED_MAX = 8 };

/* A registration as ib_umad reads it from the bytes of an ioctl. */
struct registered {
	bool has_method[METHODS];
	uint8_t mgmt_class;
	bool is_older; /* IB_USER_MAD_REGISTER_AGENT, the ioctl without flags */
};

struct methods_kernel {
	struct registered registered[REGISTERED_MAX];
	unsigned int count;
	bool lacks_register2; /* as Linux before 3.18 */
};

extern struct methods_kernel methods_kernel;

#endif
