/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Umad files at a fabric server, and which portids they have. */
#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/registry.h"
#include "device/parse.h"
#include "libibumad/remote_port.h"
#include "remote/files.h"

struct name {
	char text[32];
};

static struct name name_of(int portid)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "portid %d", portid);
	return name;
}

static int itself(const char *name, void *file, void **out)
{
	(void)name;
	*out = file;
	return 0;
}

static void remote_port_destroy(void *object)
{
	ibsa__remote_file_close(object);
	ibsa__free(object);
	ibsa__registry_remote_ports(-1);
}

static int port_number(struct device_files *files, const char *name,
		       unsigned int *out)
{
	struct ibsa__file_text text;
	uint64_t number;
	int err;

	err = ibsa__file_read(files, &text, "class/infiniband_mad/%s/port",
			      name);
	if (!err)
		err = ibsa__parse_number(text.bytes, UINT8_MAX, &number);
	if (!err)
		*out = (unsigned int)number;
	return err;
}

static int file_open(const struct device_files *files, unsigned int port,
		     struct remote_file *file)
{
	struct remote_place place;
	int err = ibsa__remote_files_place(files, &place);

	if (err)
		return err;
	if (port)
		place.port = port;
	return ibsa__remote_file_open(&place, NULL, file);
}

/*
 * What had the portid before, if the program has closed its descriptor with
 * close(2): its files may be anything now, so that none of them is closed.
 */
static void stale_port_forget(int portid)
{
	const struct name name = name_of(portid);
	struct remote_file *stale = ibsa__registry_find(name.text);

	ibsa__registry_inherited_forget(name.text);
	if (!stale)
		return;
	if (ibsa__registry_hide(stale))
		ibsa__registry_remote_ports(-1);
	ibsa__registry_put(stale, remote_port_destroy);
}

int ibsa__remote_port_open(struct device_files *files, const char *name)
{
	struct remote_file *file;
	unsigned int port;
	void *object;
	int portid;
	int err = port_number(files, name, &port);

	if (err)
		return err;
	file = ibsa__calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	err = file_open(files, port, file);
	if (err) {
		ibsa__free(file);
		return err;
	}
	portid = file->fd;
	stale_port_forget(portid);
	ibsa__registry_remote_ports(+1);
	err = ibsa__registry_get(name_of(portid).text, itself, file, &object);
	if (err) {
		remote_port_destroy(file);
		return err;
	}
	return portid;
}

/* The same descriptors, with locks that were free at the fork. */
static int adopt(const char *name, void *parents, void **out)
{
	const struct remote_file *const *from = parents;
	struct remote_file *file = ibsa__calloc(1, sizeof(*file));

	(void)name;
	if (!file)
		return -ENOMEM;
	ibsa__remote_file_inherit(*from, file);
	*out = file;
	return 0;
}

/* A forked child has its parent's files, as it has those of devices. */
static struct remote_file *remote_port_find(int portid)
{
	const struct name name = name_of(portid);
	struct remote_file *file = ibsa__registry_find(name.text);
	const struct remote_file *parents;
	void *object;

	if (file)
		return file;
	parents = ibsa__registry_inherited(name.text);
	if (!parents || ibsa__registry_get(name.text, adopt, &parents, &object))
		return NULL;
	return ibsa__registry_find(name.text);
}

struct remote_file *ibsa__remote_port_get(int portid, struct section *section)
{
	struct remote_file *file;

	if (!ibsa__registry_remote_ports(0))
		return NULL;
	ibsa__section_enter_port(section);
	file = remote_port_find(portid);
	if (!file)
		ibsa__section_leave(section);
	return file;
}

void ibsa__remote_port_put(struct remote_file *file, struct section *section)
{
	ibsa__registry_put(file, remote_port_destroy);
	ibsa__section_leave(section);
}

void ibsa__remote_port_close(struct remote_file *file, struct section *section)
{
	/* The portid may become another file's. */
	ibsa__registry_inherited_forget(name_of(file->fd).text);
	/* The reference of its opening is put once, however often the program
	 * closes what another thread uses. */
	if (!atomic_exchange(&file->is_closed, true))
		ibsa__registry_put(file, remote_port_destroy);
	ibsa__remote_port_put(file, section);
}
