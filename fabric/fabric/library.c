/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of the fabric that libibsa calls. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/fabric.h>

#include "base/error.h"
#include "base/registry.h"
#include "fabric/fabric/fabric.h"
#include "fabric/fabric/replay.h"
#include "fabric/fabric/seat.h"

static int shared_make(const char *path, void *error, void **out)
{
	struct ibsa_fabric *fabric;
	int err = ibsa_fabric_load(path, NULL, error, &fabric);

	if (!err)
		*out = fabric;
	return err;
}

static void shared_destroy(void *fabric)
{
	ibsa_fabric_put(fabric);
}

static int shared_get(const char *path, struct ibsa_error *error,
		      struct ibsa_fabric **out)
{
	char real[PATH_MAX];
	void *fabric;
	int err;

	err = ibsa__registry_get(realpath(path, real) ? real : path,
				 shared_make, error, &fabric);
	if (!err)
		*out = fabric;
	return err;
}

static void shared_put(struct ibsa_fabric *fabric)
{
	ibsa__registry_put(fabric, shared_destroy);
}

/*
 * Write the message for an adapter or port that does not exist in the fabric of
 * the program itself: no command can list its ports.
 */
static int attach_failed_in_own(const char *name, unsigned int port, int err,
				struct ibsa_error *error)
{
	if (err == -ENXIO)
		return ibsa__fail(error, err, "%s has no port %u in the fabric",
				  name ? name : "the first adapter", port);
	if (!name)
		return ibsa__fail(error, err, "the fabric has no adapter");
	return ibsa__fail(error, err, "there is no adapter %s in the fabric",
			  name);
}

static int attach_failed_in_file(const char *path, const char *name,
				 unsigned int port, int err,
				 struct ibsa_error *error)
{
	if (err == -ENXIO)
		return ibsa__fail(error, err,
				  "%s has no port %u in %s; list the ports "
				  "with: ibsa devices --fabric '%s'",
				  name ? name : "the first adapter", port, path,
				  path);
	if (!name)
		return ibsa__fail(error, err,
				  "%s has no adapter; name a file that has one",
				  path);
	return ibsa__fail(error, err,
			  "there is no adapter %s in %s; list the adapters "
			  "with: ibsa devices --fabric '%s'",
			  name, path, path);
}

static int port_is_unconnected(const char *fabric, const char *name,
			       unsigned int port, struct ibsa_error *error)
{
	if (port)
		return ibsa__fail(error, -ENETDOWN,
				  "port %u of %s is not connected in %s: no "
				  "cable leads to it; choose another port",
				  port, name, fabric);
	return ibsa__fail(error, -ENETDOWN,
			  "%s is not connected in %s: no cable leads to its "
			  "port; choose another device",
			  name, fabric);
}

static int attach_failed(const char *path, const char *name, unsigned int port,
			 int err, struct ibsa_error *error)
{
	const char *fabric = path ? path : "the fabric";

	switch (err) {
	case -EINVAL:
		return ibsa__fail(error, err,
				  "%s belongs to the parent process; load "
				  "another one in this process",
				  fabric);
	case -ENETDOWN:
		return port_is_unconnected(
			fabric, name ? name : "the first adapter", port, error);
	case -ENXIO:
	case -ENODEV:
		return path ? attach_failed_in_file(path, name, port, err,
						    error)
			    : attach_failed_in_own(name, port, err, error);
	default:
		return ibsa__fail(error, err, "%s: %s", fabric, strerror(-err));
	}
}

int ibsa__fabric_attach(struct ibsa_fabric *fabric, const char *path,
			const char *name, unsigned int port,
			struct ibsa_error *error, struct ibsa_transport **out)
{
	int err = ibsa_fabric_attach(fabric, name, port, out);

	return err ? attach_failed(path, name, port, err, error) : 0;
}

static int adapter_first(struct ibsa_fabric *fabric, struct fabric_adapter *out)
{
	struct ibsa_fabric_port first;

	if (ibsa_fabric_port_at(fabric, 0, &first))
		return -ENODEV;
	*out = (struct fabric_adapter){ .name = first.node, .id = first.id };
	return 0;
}

/* Whether @name has the port, connected or not. Return: 0; -errno. */
static int adapter_check(struct ibsa_fabric *fabric, const char *name,
			 unsigned int port)
{
	struct ibsa_transport *transport;
	int err = ibsa_fabric_attach(fabric, name, port, &transport);

	if (!err)
		transport->ops->close(transport);
	return err == -ENETDOWN ? 0 : err;
}

static int adapter_find(struct ibsa_fabric *fabric, const char *path,
			const char *name, unsigned int port,
			struct ibsa_error *error, struct fabric_adapter *out)
{
	const char *id;
	int err;

	if (!ibsa__fabric_is_ours(fabric))
		return attach_failed(path, name, port, -EINVAL, error);
	id = ibsa__fabric_adapter_id(fabric, name);
	if (!name) {
		err = adapter_first(fabric, out);
	} else {
		err = id ? adapter_check(fabric, id, port) : -ENODEV;
		*out = (struct fabric_adapter){ .name = name, .id = id };
	}
	return err ? attach_failed(path, name, port, err, error) : 0;
}

/*
 * Whether an attach with the names in @words finds the node of @seat. Error
 * messages of the attach then contain these names.
 */
static bool words_are_enough(const struct ibsa_fabric *fabric,
			     const struct seat_words *words,
			     const struct fabric_seat *seat)
{
	if (*words->device)
		return ibsa__fabric_find_adapter(fabric, words->device) ==
		       seat->node;
	return seat->kind != SEAT_HOST || !words->is_machine;
}

static const char *adapter_name(struct ibsa_fabric *fabric, const char *node,
				bool is_machine, const char *device)
{
	const struct seat_words words = {
		.node = node,
		.device = device ? device : "",
		.is_machine = is_machine,
	};
	const char *name = NULL;
	struct fabric_seat seat;

	if (!ibsa__fabric_is_ours(fabric))
		return NULL;
	pthread_mutex_lock(&fabric->lock);
	if (!ibsa__seat_find(fabric, &words, &seat) &&
	    !words_are_enough(fabric, &words, &seat))
		name = fabric->first.subnet.topo.nodes[seat.node].id;
	pthread_mutex_unlock(&fabric->lock);
	return name;
}

static uint8_t fabric_link(const struct ibsa_fabric *fabric)
{
	return fabric->first.subnet.is_opa ? IBSA_LINK_OPA
					   : IBSA_LINK_INFINIBAND;
}

const struct fabric_ops ibsa__fabric_ops = {
	.version = FABRIC_OPS_VERSION,
	.is_capture = ibsa__is_capture,
	.get = shared_get,
	.put = shared_put,
	.adapter_name = adapter_name,
	.attach = ibsa__fabric_attach,
	.adapter_find = adapter_find,
	.link = fabric_link,
};
