/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which driver a device has, kept in the registry as long as the process. */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/registry.h"
#include "device/uverbs.h"
#include "verbs/driver.h"

/*
 * A driver's number, or why it will not be known as a negative errno. Of 32
 * bits: not every 32-bit machine has atomic instructions for more.
 */
struct known {
	atomic_int value;
};

struct key {
	char text[NAME_MAX + 16];
};

static struct key key_of(const char *device)
{
	struct key key;

	snprintf(key.text, sizeof(key.text), "driver of %s", device);
	return key;
}

/* Errors that another try would end in, too. */
static bool is_final(int err)
{
	return err == -ELIBACC || err == -ENODATA;
}

static int known_new(const char *name, void *value, void **out)
{
	struct known *known = ibsa__calloc(1, sizeof(*known));

	(void)name;
	if (!known)
		return -ENOMEM;
	atomic_init(&known->value, *(const int *)value);
	*out = known;
	return 0;
}

/*
 * Remember it as long as the process; without the memory for that, it is
 * learned again.
 */
static void keep(const char *device, int value)
{
	const struct key key = key_of(device);
	struct known *known;
	void *object;

	if (ibsa__registry_get(key.text, known_new, &value, &object))
		return;
	known = object;
	atomic_store(&known->value, value);
}

/* The kernel is not asked under the registry's lock. */
static int learn(const char *device, uint32_t *out)
{
	int err = ibsa__uverbs_driver(device, out);

	if (!err && *out <= INT_MAX)
		keep(device, (int)*out);
	else if (is_final(err))
		keep(device, err);
	return err;
}

int ibsa__verbs_driver(const char *device, uint32_t *out)
{
	const struct key key = key_of(device);
	struct known *known = ibsa__registry_find(key.text);
	int value;

	if (!known)
		return learn(device, out);
	value = atomic_load(&known->value);
	ibsa__registry_put(known, ibsa__free);
	if (value < 0)
		return value;
	*out = (uint32_t)value;
	return 0;
}

bool ibsa__verbs_driver_renew(const char *device, uint32_t *driver)
{
	const uint32_t before = *driver;

	return !learn(device, driver) && *driver != before;
}
