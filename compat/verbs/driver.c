/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's driver number of a device, cached in the registry for the life
 * of the process.
 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/registry.h"
#include "device/uverbs.h"
#include "verbs/driver.h"

/*
 * A cached driver number; or a negative errno if it cannot be had from the
 * kernel. The variable is an int, since some 32-bit machines have no atomic
 * instructions for more bits.
 */
struct driver_entry {
	atomic_int value;
};

struct key {
	char text[NAME_MAX + 16];
};

static struct key driver_key(const char *device)
{
	struct key key;

	snprintf(key.text, sizeof(key.text), "driver of %s", device);
	return key;
}

/* Whether the error is permanent: a second query would return it, too. */
static bool error_is_final(int err)
{
	return err == -ELIBACC || err == -ENODATA;
}

static int driver_entry_new(const char *name, void *value, void **out)
{
	struct driver_entry *entry = ibsa__calloc(1, sizeof(*entry));

	(void)name;
	if (!entry)
		return -ENOMEM;
	atomic_init(&entry->value, *(const int *)value);
	*out = entry;
	return 0;
}

/*
 * Store the driver number of a device, or the error, in the cache. If memory
 * is short, the next call queries the kernel again.
 */
static void driver_store(const char *device, int value)
{
	const struct key key = driver_key(device);
	struct driver_entry *entry;
	void *object;

	if (ibsa__registry_get(key.text, driver_entry_new, &value, &object))
		return;
	entry = object;
	atomic_store(&entry->value, value);
}

/*
 * Query the kernel for the driver number of a device. The registry's lock is
 * not held during the query.
 */
static int driver_query(const char *device, uint32_t *out)
{
	int err = ibsa__uverbs_driver(device, out);

	if (!err && *out <= INT_MAX)
		driver_store(device, (int)*out);
	else if (error_is_final(err))
		driver_store(device, err);
	return err;
}

int ibsa__verbs_driver(const char *device, uint32_t *out)
{
	const struct key key = driver_key(device);
	struct driver_entry *entry = ibsa__registry_find(key.text);
	int value;

	if (!entry)
		return driver_query(device, out);
	value = atomic_load(&entry->value);
	ibsa__registry_put(entry, ibsa__free);
	if (value < 0)
		return value;
	*out = (uint32_t)value;
	return 0;
}

bool ibsa__verbs_driver_renew(const char *device, uint32_t *driver)
{
	const uint32_t before = *driver;

	return !driver_query(device, driver) && *driver != before;
}
