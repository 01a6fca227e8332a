/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions in the style of libibverbs, for a struct ibv_context that
 * libibverbs or, for a port without a uverbs device, ibsa_verbs_open() has
 * opened.
 *
 * ibsa_verbs_open          open a context without a uverbs device
 * ibsa_verbs_close         close a context of ibsa_verbs_open()
 * ibsa_query_gid_ex        read one entry of a port's GID table
 * ibsa_query_gid_table     read all entries of a device that are not empty
 * _ibv_query_gid_ex        for the inline ibv_query_gid_ex()
 * _ibv_query_gid_table     for the inline ibv_query_gid_table()
 * ibv_gid_reachable        ask the SA whether a GID is reachable
 * ibv_register_sm_events   receive events when ports and groups come and go
 * ibv_unregister_sm_events end registrations
 * ibsa_verbs_attach        make async_fd readable for events of the SM
 * ibsa_verbs_detach        undo ibsa_verbs_attach() and end all registrations
 * ibsa_close_device        end ibsa's use of a context, and close the context
 * ibsa_get_async_event     wait for an event of the device or of the SM
 * ibsa_ack_async_event     acknowledge an event
 * ibsa_event_type_text     describe an event type, such as "GID available"
 * ibsa_verbs_async_fd_get  set async_fd to the device's own file
 * ibsa_verbs_async_fd_put  undo ibsa_verbs_async_fd_get(), in the same thread
 * ibsa_stock_event_gid     the GID of an event, with the preload library
 * ibsa_stock_get_event     ibsa_get_async_event() for libibsa-verbs-preload.so
 *
 * Several threads may call these functions at the same time, also with the same
 * context; comments of functions state exceptions. If IBSA_VERBS_NAMES is
 * defined before the header is included, names of libibverbs are macros for
 * functions of this header, such as ibv_get_async_event for
 * ibsa_get_async_event. With the flags of "pkg-config ibsa-compat",
 * <infiniband/verbs.h> defines IBSA_VERBS_NAMES.
 *
 * The functions are in libibsa-compat.
 */
#ifndef IBSA_VERBS_H
#define IBSA_VERBS_H

#define IBSA__IN_VERBS_H
#include <infiniband/verbs.h>
#undef IBSA__IN_VERBS_H
#include <sys/types.h>

#include <ibsa/ibsa.h>
#include <ibsa/types.h>

IBSA_BEGIN

int ibsa_verbs_open_sized(const struct ibsa_options *options, size_t size,
			  struct ibsa_error *error,
			  struct ibv_context **out) IBSA_MUST_USE
	IBSA_NONNULL(4);

/**
 * ibsa_verbs_open - open a context without a uverbs device
 * @options: as for ibsa_open(), copied; its port, transport and context must be
 *           0. The fabric in its member on must not be freed before the context
 *           is closed
 * @error:   after an error, what failed and what to do; may be NULL
 * @out:     receives the context, for functions of <ibsa/verbs.h> only: most
 *           functions of libibverbs crash with it
 *
 * The context has only the members device, with name and node_type, cmd_fd,
 * which is -1, and async_fd.
 *
 * Return: 0; -ENODEV no such device, node or server; -EINVAL an option or the
 * topology file is not valid; others: see ibsa_verbs_open(3)
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_verbs_open(const struct ibsa_options *options, struct ibsa_error *error,
		struct ibv_context **out)
{
	return ibsa_verbs_open_sized(options, sizeof(*options), error, out);
}

/**
 * ibsa_verbs_close - close a context of ibsa_verbs_open()
 * @context: NULL: nothing happens
 *
 * Ends registrations and calls in progress, as ibsa_close_device() does.
 *
 * Return: 0; -EINVAL not an open context of ibsa_verbs_open() in this process
 */
int ibsa_verbs_close(struct ibv_context *context);

/**
 * ibsa_query_gid_ex - read one entry of a port's GID table
 * @context:  from ibv_open_device() or ibsa_verbs_open()
 * @port_num: from 1
 * @entry:    receives the GID in network byte order, the rest in host byte
 *            order
 * @flags:    0
 *
 * Each call reads the entry; nothing is cached.
 *
 * Return: 0; or a positive errno: ENODATA the entry is empty; EINVAL no such
 * port or entry; EOPNOTSUPP, EIO, ENOMEM; or the kernel's error
 *
 * Source: ibv_query_gid_ex(3) of rdma-core.
 */
int ibsa_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags) IBSA_MUST_USE IBSA_NONNULL(4);

/**
 * ibsa_query_gid_table - read all entries of a device that are not empty
 * @entries:     receives the entries, ordered by port, then by index
 * @max_entries: number of entries for which @entries has room
 * @flags:       0
 *
 * Return: the number of entries; or a negative errno: -EINVAL the device has
 * more than @max_entries entries; -EOPNOTSUPP, -EIO, -ENOMEM; or the kernel's
 * error. After an error, @entries is undefined
 *
 * Source: ibv_query_gid_table(3) of rdma-core.
 */
ssize_t ibsa_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags) IBSA_MUST_USE;

/**
 * _ibv_query_gid_ex - for the inline ibv_query_gid_ex()
 * @entry_size: bytes of @entry, at least 32
 *
 * Does what ibsa_query_gid_ex() does. A program that links libibverbs, too,
 * uses the function of the library that is linked first: for contexts of
 * ibsa_verbs_open(), link libibsa-compat first.
 */
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t entry_size) IBSA_NONNULL(4);

/**
 * _ibv_query_gid_table - for the inline ibv_query_gid_table()
 * @entry_size: bytes from one entry to the next
 *
 * Does what ibsa_query_gid_table() does. In a program that links libibverbs,
 * too, the order of the libraries matters as for _ibv_query_gid_ex().
 */
ssize_t _ibv_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags, size_t entry_size);

/**
 * ibv_gid_reachable - ask the SA whether a GID is reachable
 * @context: from ibv_open_device() or ibsa_verbs_open()
 * @port:    from 1; 0: the first active port whose GID 0 has the subnet prefix
 *           of @gid_p, or else the first active port. Ethernet ports only with
 *           access.sa of struct ibsa_verbs_options or ibsa_options
 * @gid_p:   unicast or multicast, network byte order
 * @timeout: ignored; pass 0
 *
 * Waits up to IBSA_DEFAULT_DEADLINE_MS for the SA's reply. The first call
 * starts a thread of the library for @context: close @context with
 * ibsa_close_device().
 *
 * Return: 0 the SA has a path; -1 and errno: ENXIO the SA has no path; EIO the
 * SA did not reply, was busy or refused, no port is active, or the port has no
 * SM or cannot be opened; EINVAL, ENOMEM; EINTR a signal without SA_RESTART
 *
 * Source: ibv_gid_reachable(3) of Solaris; IBA vol 1, 15.2.5.16.
 */
int ibv_gid_reachable(struct ibv_context *context, unsigned int port,
		      union ibv_gid *gid_p, int timeout);

/* Kinds of ibv_register_sm_events(); values as in Solaris, 2 is not used. */
enum ibv_sm_event_type {
	IBV_SM_EVENT_MGID = 1,	    /* the groups in @gids */
	IBV_SM_EVENT_MGID_ALL = 4,  /* every group */
	IBV_SM_EVENT_UGID = 8,	    /* the GIDs of ports in @gids */
	IBV_SM_EVENT_UGID_ALL = 16, /* every GID of a port */
	IBV_SM_EVENT_ALL = 32,	    /* every group and GID */
};

/* A bitwise OR of enum ibv_sm_event_type, for which C++ needs an integer. */
typedef unsigned int ibv_sm_event_type_t;

/*
 * Maximum number of GIDs in one call of ibv_register_sm_events(), and of
 * different GIDs for which a context has registrations.
 */
enum { IBSA_SM_EVENT_GIDS_MAX = 65536 };

/**
 * ibv_register_sm_events - receive events when ports and groups come and go
 * @context: from ibv_open_device() or ibsa_verbs_open()
 * @event:   for the GIDs in @gids: IBV_SM_EVENT_MGID, IBV_SM_EVENT_UGID, or
 *           both; without @gids: IBV_SM_EVENT_MGID_ALL, IBV_SM_EVENT_UGID_ALL,
 *           IBV_SM_EVENT_ALL
 * @gid_num: up to IBSA_SM_EVENT_GIDS_MAX; 0 without @gids
 * @gids:    network byte order; copied. NULL: all GIDs
 *
 * The first registration waits up to 10 s until the SA has accepted a
 * subscription. From then on, each matching change is an event of the context:
 * async_fd becomes readable, and ibsa_get_async_event() returns the event, once
 * for each change. A registration does not report what exists already. A GID of
 * @gids, or a kind without GIDs, may be registered several times; each
 * registration must be ended.
 *
 * Return: 0; -1 and errno, and nothing is registered: EAGAIN no active port has
 * an SM; EBUSY another client receives the Reports at the port, or a thread has
 * been creating a queue for 10 s; EIO the SA did not reply, was busy or
 * refused, or opening the device failed; EINVAL, ENODEV, ENOMEM, EMFILE, ENFILE
 *
 * Source: ibv_register_sm_events(3) of Solaris; IBA vol 1, 13.4.8.3, 13.4.11.
 */
int ibv_register_sm_events(struct ibv_context *context,
			   ibv_sm_event_type_t event, int gid_num,
			   union ibv_gid *gids);

/**
 * ibv_unregister_sm_events - end registrations
 * @event:   as in ibv_register_sm_events()
 * @gid_num: as in ibv_register_sm_events()
 * @gids:    in any order; may combine GIDs of several registrations
 *
 * Return: 0; -1 and errno EINVAL, and nothing is changed: a GID or kind is not
 * registered, or is in @gids more often than it is registered
 */
int ibv_unregister_sm_events(struct ibv_context *context,
			     ibv_sm_event_type_t event, int gid_num,
			     union ibv_gid *gids);

/*
 * Event types outside enum ibv_event_type: the numbers of Solaris plus 0x1000,
 * because rdma-core uses the same numbers for other events. The member
 * element.gid of struct ibsa_async_event is the GID.
 */
#define IBV_EVENT_MCG_CREATED 0x1013
#define IBV_EVENT_MCG_DELETED 0x1014
#define IBV_EVENT_GID_AVAIL 0x1015
#define IBV_EVENT_GID_UNAVAIL 0x1016
/*
 * Events of the SM may have been missed at the port element.port_num; 0: at any
 * port. Reported only with the option gaps of ibsa_verbs_attach().
 */
#define IBV_EVENT_SM_GAP 0x1017

/**
 * struct ibsa_async_event - struct ibv_async_event, with room for a GID
 * @event_type: enum ibv_event_type, or IBV_EVENT_MCG_CREATED to
 *              IBV_EVENT_SM_GAP; an int, because an enum of C++ may not hold
 *              other numbers
 * @element:    as in struct ibv_async_event; gid, network byte order, for
 *              IBV_EVENT_MCG_CREATED to IBV_EVENT_GID_UNAVAIL; port_num for
 *              IBV_EVENT_SM_GAP, 0 for any port
 */
struct ibsa_async_event {
	int event_type;
	union {
		struct ibv_cq *cq;
		struct ibv_qp *qp;
		struct ibv_srq *srq;
		struct ibv_wq *wq;
		int port_num;
		union ibv_gid gid;
	} element;
};

/**
 * struct ibsa_verbs_options - options of a context; zero: the default of a
 * member
 * @access:     as in struct ibsa_options; must be zero for a context of
 *              ibsa_verbs_open(). With @access.sa, Ethernet ports are used, too
 * @audit_ms:   longest time between two reads of the subscriptions at the SA;
 *              IBSA_DEFAULT_AUDIT_MS
 * @max_events: most events of the SM that wait to be read, up to 1048576;
 *              IBSA_DEFAULT_EVENT_QUEUE
 * @no_environment: as ibsa_environment_ignore(), for this context; must be
 *              false for a context of ibsa_verbs_open()
 * @gaps:       return an event IBV_EVENT_SM_GAP if events of the SM may have
 *              been missed
 */
struct ibsa_verbs_options {
	struct ibsa_sa_access access;
	unsigned int audit_ms;
	unsigned int max_events;
	bool gaps;
	bool no_environment;
	uint8_t reserved[6];
};

int ibsa_verbs_attach_sized(struct ibv_context *context,
			    const struct ibsa_verbs_options *options,
			    size_t size) IBSA_MUST_USE;

/**
 * ibsa_verbs_attach - make async_fd readable for events of the SM
 * @options: NULL: all defaults
 *
 * Needed only to set options, or before async_fd is added to an epoll set:
 * async_fd keeps its number, but in a context of libibverbs becomes an epoll
 * file. Otherwise, the first ibv_register_sm_events() does the same. From then
 * on, read events only with ibsa_get_async_event().
 *
 * Return: 0; -EALREADY @context is attached; -EBUSY @options sets access or
 * no_environment, and an earlier call has used @context without them, or a
 * thread has been creating a queue for 10 s: see ibsa_verbs_async_fd_get();
 * -EINVAL, -EMFILE, -ENFILE, -ENOMEM; or the system's error
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_verbs_attach(struct ibv_context *context,
		  const struct ibsa_verbs_options *options)
{
	return ibsa_verbs_attach_sized(context, options, sizeof(*options));
}

/**
 * ibsa_verbs_detach - undo ibsa_verbs_attach() and end all registrations
 *
 * Discards events of the SM that were not read, and restores async_fd. May wait
 * up to two seconds for each port until the SA has ended the subscriptions.
 *
 * Return: 0; -EINVAL @context is not attached and has no registrations
 */
int ibsa_verbs_detach(struct ibv_context *context);

/**
 * ibsa_close_device - end ibsa's use of a context, and close the context
 *
 * Calls in other threads, except those that read GIDs, fail. Waits until they
 * have returned, but not for ibsa_get_async_event(), and up to two seconds for
 * each port until the SA has ended the subscriptions.
 *
 * Return: 0; -1 and errno: EINVAL @context is NULL; ENOSYS libibverbs is not
 * loaded; or the error of ibv_close_device() of libibverbs
 */
int ibsa_close_device(struct ibv_context *context);

/**
 * ibsa_get_async_event - wait for an event of the device or of the SM
 * @event: receives the event; pass it to ibsa_ack_async_event() later
 *
 * Several threads may wait. If a waiting thread is cancelled, no event is lost.
 *
 * Return: 0; -1 and errno: EAGAIN there is no event, and async_fd has
 * O_NONBLOCK; EINTR a signal arrived before an event; EBADF the context was
 * closed during the call; ENOSYS libibverbs is not loaded; EINVAL, ENOMEM,
 * EMFILE, ENFILE; or the error of libibverbs
 */
int ibsa_get_async_event(struct ibv_context *context,
			 struct ibsa_async_event *event);

void ibsa_ack_async_event(struct ibsa_async_event *event) IBSA_NONNULL(1);

const char *ibsa_event_type_text(int event_type);

struct ibsa_verbs_async_fd;

/**
 * ibsa_verbs_async_fd_get - set async_fd to the device's own file
 *
 * While a context of libibverbs is attached (ibsa_verbs_attach()) or has
 * registrations (ibv_register_sm_events()), its async_fd is an epoll file, which
 * the kernel does not accept for new queues. With
 * IBSA_VERBS_NAMES, ibv_create_qp() and similar names are macros for functions
 * that call ibsa_verbs_async_fd_get() before the creation and
 * ibsa_verbs_async_fd_put() after it. Call both also around functions of other
 * libraries that create queues, such as rdma_create_qp(). The same thread calls
 * both, and must not be cancelled in between. Several threads may do so.
 *
 * Return: a value for ibsa_verbs_async_fd_put(), which may be NULL
 */
struct ibsa_verbs_async_fd *
ibsa_verbs_async_fd_get(struct ibv_context *context);

void ibsa_verbs_async_fd_put(struct ibsa_verbs_async_fd *held);

/**
 * ibsa_stock_event_gid - the GID of an event, with the preload library
 * @event: an event that ibv_get_async_event() returned in a process with
 *         libibsa-verbs-preload.so, or a copy of the event; not acknowledged
 *         yet
 *
 * Return: the GID, network byte order, valid until the event is acknowledged;
 * NULL for an event of the device and for IBV_EVENT_SM_GAP
 */
const union ibv_gid *ibsa_stock_event_gid(const struct ibv_async_event *event)
	IBSA_NONNULL(1);

/**
 * ibsa_stock_get_event - ibsa_get_async_event() for libibsa-verbs-preload.so
 *
 * Return: 0; -1 and errno as ibsa_get_async_event(), except that a call whose
 * context is closed waits, as in libibverbs, until a signal arrives
 */
int ibsa_stock_get_event(struct ibv_context *context,
			 struct ibsa_async_event *event);

static inline struct ibv_cq *ibsa__create_cq(struct ibv_context *context,
					     int cqe, void *cq_context,
					     struct ibv_comp_channel *channel,
					     int comp_vector)
{
	struct ibsa_verbs_async_fd *held = ibsa_verbs_async_fd_get(context);
	struct ibv_cq *cq = ibv_create_cq(context, cqe, cq_context, channel,
					  comp_vector);

	ibsa_verbs_async_fd_put(held);
	return cq;
}

/* @of: the struct in which the queue is created; @context: its context;
 * @wanted: the struct of the queue's attributes. */
#define IBSA__CREATE(made, name, of, context, wanted)                       \
	static inline struct made *ibsa__create_##name(struct of *where,    \
						       struct wanted *what) \
	{                                                                   \
		struct ibsa_verbs_async_fd *held =                          \
			ibsa_verbs_async_fd_get(context);                   \
		struct made *queue = ibv_create_##name(where, what);        \
                                                                            \
		ibsa_verbs_async_fd_put(held);                              \
		return queue;                                               \
	}

IBSA__CREATE(ibv_cq_ex, cq_ex, ibv_context, where, ibv_cq_init_attr_ex)
IBSA__CREATE(ibv_qp, qp, ibv_pd, where->context, ibv_qp_init_attr)
IBSA__CREATE(ibv_qp, qp_ex, ibv_context, where, ibv_qp_init_attr_ex)
IBSA__CREATE(ibv_srq, srq, ibv_pd, where->context, ibv_srq_init_attr)
IBSA__CREATE(ibv_srq, srq_ex, ibv_context, where, ibv_srq_init_attr_ex)
IBSA__CREATE(ibv_wq, wq, ibv_context, where, ibv_wq_init_attr)

IBSA_END

#endif

/* These macros are outside of the include guard, because the header may have
 * been included before without IBSA_VERBS_NAMES. */
#ifdef IBSA_VERBS_NAMES
#define ibv_async_event ibsa_async_event
#define ibv_get_async_event ibsa_get_async_event
#define ibv_ack_async_event ibsa_ack_async_event
#define ibv_close_device ibsa_close_device
#define ibv_event_type_str ibsa_event_type_text
#define ibv_create_cq ibsa__create_cq
#define ibv_create_cq_ex ibsa__create_cq_ex
#define ibv_create_qp ibsa__create_qp
#define ibv_create_qp_ex ibsa__create_qp_ex
#define ibv_create_srq ibsa__create_srq
#define ibv_create_srq_ex ibsa__create_srq_ex
#define ibv_create_wq ibsa__create_wq
#endif
