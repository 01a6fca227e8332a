/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of libibsa-fabric that the command calls. They load the library
 * when a fabric or faults are read, so that commands at a device or a fabric
 * server run without it. The other functions take objects of these.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include <ibsa/server.h>
#include <ibsa/fabric.h>
#include <ibsa/responder.h>
#include <ibsa/topology.h>

#include "common/library.h"

#include "base/library_load.h"

/* clang-format off */
/* Functions that load the library. */
#define LOADING_FUNCTIONS(F)						\
	F(ibsa_fabric_load_sized,					\
	  (const char *path,						\
	   const struct ibsa_fabric_options *options, size_t size,	\
	   struct ibsa_error *error, struct ibsa_fabric **out),		\
	  (path, options, size, error, out))				\
	F(ibsa_replay_open,						\
	  (const char *path, struct ibsa_error *error,			\
	   struct ibsa_transport **out),				\
	  (path, error, out))						\
	F(ibsa_fault_parse_sized,					\
	  (const char *text, struct ibsa_fault *out, size_t size,	\
	   struct ibsa_error *error),					\
	  (text, out, size, error))

#define FUNCTIONS(F)							\
	F(ibsa_fabric_attach,						\
	  (struct ibsa_fabric *fabric, const char *node,		\
	   unsigned int port, struct ibsa_transport **out),		\
	  (fabric, node, port, out))					\
	F(ibsa_fabric_end_at_sized,					\
	  (struct ibsa_fabric *fabric, size_t node, unsigned int port,	\
	   struct ibsa_fabric_end *out, size_t size),			\
	  (fabric, node, port, out, size))				\
	F(ibsa_fabric_fault_sized,					\
	  (struct ibsa_fabric *fabric, const struct ibsa_fault *fault,	\
	   size_t size),						\
	  (fabric, fault, size))					\
	F(ibsa_fabric_finding_at_sized,					\
	  (struct ibsa_fabric *fabric, size_t index,			\
	   struct ibsa_fabric_finding *out, size_t size),		\
	  (fabric, index, out, size))					\
	F(ibsa_fabric_node_at_sized,					\
	  (struct ibsa_fabric *fabric, size_t index,			\
	   struct ibsa_fabric_node *out, size_t size),			\
	  (fabric, index, out, size))					\
	F(ibsa_fabric_port_at_sized,					\
	  (struct ibsa_fabric *fabric, size_t index,			\
	   struct ibsa_fabric_port *out, size_t size),			\
	  (fabric, index, out, size))					\
	F(ibsa_fabric_server_open_sized,				\
	  (struct ibsa_fabric *fabric, const char *path,		\
	   const struct ibsa_fabric_server_options *options,		\
	   size_t size,							\
	   struct ibsa_error *error, struct ibsa_fabric_server **out),	\
	  (fabric, path, options, size, error, out))			\
	F(ibsa_fabric_server_wait,					\
	  (struct ibsa_fabric_server *server, int timeout_ms),		\
	  (server, timeout_ms))						\
	F(ibsa_fabric_tap,						\
	  (struct ibsa_fabric *fabric, ibsa_packet_fn seen,		\
	   void *arg),							\
	  (fabric, seen, arg))						\
	F(ibsa_responder_dispatch,					\
	  (struct ibsa_responder *responder), (responder))		\
	F(ibsa_responder_fd,						\
	  (const struct ibsa_responder *responder), (responder))	\
	F(ibsa_responder_open_sized,					\
	  (struct ibsa_fabric *fabric,					\
	   const struct ibsa_responder_options *options, size_t size,	\
	   struct ibsa_error *error, struct ibsa_responder **out),	\
	  (fabric, options, size, error, out))				\
	F(ibsa_responder_timeout_ms,					\
	  (const struct ibsa_responder *responder), (responder))	\
	F(ibsa_topology_copy,						\
	  (struct ibsa_fabric *fabric, struct ibsa_topology **out),	\
	  (fabric, out))

/* Functions without a result; those that free an object take NULL. */
#define VOID_FUNCTIONS(F)						\
	F(ibsa_fabric_info_get_sized,					\
	  (struct ibsa_fabric *fabric, struct ibsa_fabric_info *out,	\
	   size_t size),						\
	  (fabric, out, size))						\
	F(ibsa_fabric_put, (struct ibsa_fabric *fabric), (fabric))	\
	F(ibsa_fabric_server_close,					\
	  (struct ibsa_fabric_server *server), (server))		\
	F(ibsa_fabric_server_wake,					\
	  (struct ibsa_fabric_server *server), (server))		\
	F(ibsa_responder_close,						\
	  (struct ibsa_responder *responder), (responder))		\
	F(ibsa_responder_info_get_sized,				\
	  (const struct ibsa_responder *responder,			\
	   struct ibsa_responder_info *out, size_t size),		\
	  (responder, out, size))
/* clang-format on */

#define LIBRARY "libibsa-fabric.so.1"
#define PACKAGE "libibsa-fabric1"

static struct {
	void *library;
#define POINTER(name, parameters, arguments) __typeof__(name) *name;
	LOADING_FUNCTIONS(POINTER) FUNCTIONS(POINTER) VOID_FUNCTIONS(POINTER)
#undef POINTER
} loaded;

static int load(struct ibsa_error *error)
{
	static const struct library_function functions[] = {
#define ROW(name, parameters, arguments) \
	{ #name, offsetof(__typeof__(loaded), name) },
		LOADING_FUNCTIONS(ROW) FUNCTIONS(ROW) VOID_FUNCTIONS(ROW)
#undef ROW
	};

	if (!loaded.library)
		loaded.library = library_functions(
			ibsa__library_load(LIBRARY,
					   dlsym(RTLD_DEFAULT, "ibsa_version")),
			functions, sizeof(functions) / sizeof(functions[0]),
			&loaded);
	if (loaded.library)
		return 0;
	if (error)
		snprintf(
			error->text, sizeof(error->text),
			"a topology file or capture needs " LIBRARY
			", which cannot be loaded: %s; install the package " PACKAGE,
			dlerror());
	return -EOPNOTSUPP;
}

#define DEFINE(name, parameters, arguments)               \
	int name parameters                               \
	{                                                 \
		const int err = load(error);              \
                                                          \
		return err ? err : loaded.name arguments; \
	}
LOADING_FUNCTIONS(DEFINE)
#undef DEFINE

#define DEFINE(name, parameters, arguments)   \
	int name parameters                   \
	{                                     \
		return loaded.name arguments; \
	}
FUNCTIONS(DEFINE)
#undef DEFINE

#define DEFINE(name, parameters, arguments)    \
	void name parameters                   \
	{                                      \
		if (loaded.library)            \
			loaded.name arguments; \
	}
VOID_FUNCTIONS(DEFINE)
#undef DEFINE
