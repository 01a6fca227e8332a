/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of libibsa-fabric that the command calls. The functions that
 * read a fabric or faults load the library, so that a command that uses a
 * device or a fabric server runs without the library. The other functions take
 * objects that those have made.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include <ibsa/server.h>
#include <ibsa/responder.h>

#include "common/library.h"

#include "base/library_load.h"

/* clang-format off */
/* From the types of a function: its parameter list, and its argument list. */
#define P1(A)             (A a), (a)
#define P2(A, B)          (A a, B b), (a, b)
#define P3(A, B, C)       (A a, B b, C c), (a, b, c)
#define P4(A, B, C, D)    (A a, B b, C c, D d), (a, b, c, d)
#define P5(A, B, C, D, E) (A a, B b, C c, D d, E e), (a, b, c, d, e)
#define P6(A, B, C, D, E, F) \
	(A a, B b, C c, D d, E e, F f), (a, b, c, d, e, f)

#define FABRIC    struct ibsa_fabric *
#define SERVER    struct ibsa_fabric_server *
#define RESPONDER struct ibsa_responder *
#define ERROR     struct ibsa_error *

/*
 * Functions that load the library. The first argument of F is the name of the
 * function's parameter for an error.
 */
#define LOADING_FUNCTIONS(F)						\
	F(d, ibsa_fabric_load_sized, P5(const char *,			\
	  const struct ibsa_fabric_options *, size_t, ERROR, FABRIC *))	\
	F(b, ibsa_replay_open,						\
	  P3(const char *, ERROR, struct ibsa_transport **))		\
	F(d, ibsa_fault_parse_sized,					\
	  P4(const char *, struct ibsa_fault *, size_t, ERROR))

#define FUNCTIONS(F)							\
	F(, ibsa_fabric_attach, P4(FABRIC, const char *, unsigned int,	\
	  struct ibsa_transport **))					\
	F(, ibsa_fabric_fault_sized,					\
	  P3(FABRIC, const struct ibsa_fault *, size_t))		\
	F(, ibsa_fabric_port_at_sized,					\
	  P4(FABRIC, size_t, struct ibsa_fabric_port *, size_t))	\
	F(, ibsa_fabric_server_open_sized, P6(FABRIC, const char *,	\
	  const struct ibsa_fabric_server_options *, size_t, ERROR,	\
	  SERVER *))							\
	F(, ibsa_fabric_server_command,					\
	  P5(SERVER, const char *, char *, size_t, ERROR))		\
	F(, ibsa_fabric_server_port, P1(const SERVER))			\
	F(, ibsa_fabric_server_wait, P2(SERVER, int))			\
	F(, ibsa_fabric_tap, P3(FABRIC, ibsa_packet_fn, void *))	\
	F(, ibsa_responder_dispatch, P1(RESPONDER))			\
	F(, ibsa_responder_fd, P1(const RESPONDER))			\
	F(, ibsa_responder_open_sized, P5(FABRIC,			\
	  const struct ibsa_responder_options *, size_t, ERROR,		\
	  RESPONDER *))							\
	F(, ibsa_responder_timeout_ms, P1(const RESPONDER))

/* Functions without a result; those that free an object take NULL. */
#define VOID_FUNCTIONS(F)						\
	F(, ibsa_fabric_info_get_sized,					\
	  P3(FABRIC, struct ibsa_fabric_info *, size_t))		\
	F(, ibsa_fabric_put, P1(FABRIC))				\
	F(, ibsa_fabric_server_close, P1(SERVER))			\
	F(, ibsa_fabric_server_wake, P1(SERVER))			\
	F(, ibsa_responder_close, P1(RESPONDER))			\
	F(, ibsa_responder_info_get_sized,				\
	  P3(const RESPONDER, struct ibsa_responder_info *, size_t))
/* clang-format on */

#define LIBRARY "libibsa-fabric.so.1"
#define PACKAGE "libibsa-fabric1"

static struct {
	void *library;
#define POINTER(error, name, ...) __typeof__(name) *name;
	LOADING_FUNCTIONS(POINTER) FUNCTIONS(POINTER) VOID_FUNCTIONS(POINTER)
#undef POINTER
} loaded;

static int load(struct ibsa_error *error)
{
	static const struct library_function functions[] = {
#define ROW(error, name, ...) { #name, offsetof(__typeof__(loaded), name) },
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

/* Expands the parameters before @define takes them. */
#define EXPAND(define, ...) define(__VA_ARGS__)

#define DEFINE_LOADING(error, name, parameters, arguments) \
	int name parameters                                \
	{                                                  \
		const int err = load(error);               \
                                                           \
		return err ? err : loaded.name arguments;  \
	}
#define DEFINE(error, name, parameters, arguments) \
	int name parameters                        \
	{                                          \
		return loaded.name arguments;      \
	}
#define DEFINE_VOID(error, name, parameters, arguments) \
	void name parameters                            \
	{                                               \
		if (loaded.library)                     \
			loaded.name arguments;          \
	}
#define LOADING(...) EXPAND(DEFINE_LOADING, __VA_ARGS__)
#define OTHER(...) EXPAND(DEFINE, __VA_ARGS__)
#define WITHOUT_RESULT(...) EXPAND(DEFINE_VOID, __VA_ARGS__)
LOADING_FUNCTIONS(LOADING)
FUNCTIONS(OTHER)
VOID_FUNCTIONS(WITHOUT_RESULT)
