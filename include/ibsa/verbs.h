/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions under the names of libibverbs, for a struct ibv_context that
 * libibverbs opened, or that ibsa_verbs_open() opened where a port has no
 * uverbs device.
 *
 * If IBSA_VERBS_NAMES is defined before the header is included, names that
 * libibverbs defines stand for functions of this header, such as
 * ibv_get_async_event() for ibsa_get_async_event(). <infiniband/verbs.h> defines
 * it for code that is compiled with the flags of "pkg-config ibsa-compat".
 *
 * The functions are in libibsa-compat.
 */
#ifndef IBSA_VERBS_H
#define IBSA_VERBS_H

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <ibsa/ibsa.h>
#include <ibsa/types.h>

IBSA_BEGIN

/* For bindings: ibsa_verbs_open() with the size of @options. */
int ibsa_verbs_open_sized(const struct ibsa_options *options, size_t size,
			  struct ibsa_error *error,
			  struct ibv_context **out) IBSA_MUST_USE;

/**
 * ibsa_verbs_open - open a verbs context without a uverbs device
 * @options: the device or the node of a fabric, and how to reach its SA, as in
 *           ibsa_open(); NULL: all defaults. A context has all ports of the
 *           device: the members @port, @transport and @context of @options must
 *           be 0. The library copies everything to which @options points,
 *           except the fabric in @on, which the program must not release before
 *           it closes the context
 * @error:   receives, on failure, what failed and what to do; may be NULL
 * @out:     receives the context; ibsa_verbs_close() closes it
 *
 * Use ibsa_verbs_open() for the embedded fabric, for a fabric server, and where
 * a program has access to MAD devices, but not to uverbs devices. Do not pass
 * the context to functions of libibverbs, which crash: only the functions of
 * <ibsa/verbs.h> accept it. In struct ibv_context, these members are set:
 * device, with name (cut to 63 bytes) and node_type; cmd_fd, which is -1; and
 * async_fd, which is readable when ibsa_get_async_event() has an event. All
 * other members are 0.
 *
 * Return: 0; -EINVAL @port, @transport or @context is not 0, another option is
 * out of range, or the topology file has an error; -ENODEV no such device or
 * node; -ENXIO $IBSA_NODE is NAME/PORT, and the node NAME has no port PORT;
 * -ENOSYS the RDMA modules are not loaded; -ENETDOWN no name was given and no
 * port is active; -EMFILE, -ENFILE no file descriptor is free; -ENOMEM; or the
 * error from opening the topology file, such as -ENOENT, or of a fabric server
 * as ibsa_open(). After an error @out is unchanged. Any thread may call
 * ibsa_verbs_open().
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_verbs_open(const struct ibsa_options *options, struct ibsa_error *error,
		struct ibv_context **out)
{
	return ibsa_verbs_open_sized(options, sizeof(*options), error, out);
}

/**
 * ibsa_verbs_close - close a context of ibsa_verbs_open()
 * @context: an open context of ibsa_verbs_open(); NULL: nothing happens
 *
 * Ends registrations for events of the SM, and calls in progress, as
 * ibsa_close_device() does. ibsa_verbs_close() neither ends nor waits for calls
 * of ibsa_query_gid_ex() and ibsa_query_gid_table() in other threads, which may
 * safely return later.
 *
 * Return: 0; -EINVAL @context was not opened by ibsa_verbs_open() in this
 * process, or is closed. Any thread may call ibsa_verbs_close().
 */
int ibsa_verbs_close(struct ibv_context *context);

/**
 * ibsa_query_gid_ex - read one entry of a port's GID table
 * @context:   of libibverbs or of ibsa_verbs_open()
 * @port_num:  number of the port, from 1
 * @gid_index: index in the table, from 0
 * @entry:     receives the entry: the GID in network byte order, all other
 *             members in host byte order
 * @flags:     must be 0
 *
 * For a context of libibverbs, ibsa_query_gid_ex() uses the command of the
 * kernel; if the kernel has no such command, or libibsa does not know the
 * driver of the device, ibsa_query_gid_ex() reads sysfs. For a context of
 * ibsa_verbs_open(), ibsa_query_gid_ex() reads sysfs, the fabric server or the
 * embedded fabric. From sysfs, @entry->ndev_ifindex is an index in the caller's
 * network name space; from the kernel's command, it is an index in the network
 * name space of the interface. @entry->ndev_ifindex is 0 if the entry has no
 * interface. No entry is cached.
 *
 * Return: 0, or a positive errno, and @entry is unchanged: ENODATA the entry is
 * empty; EINVAL no such port or entry, the entry cannot be read, @flags is not
 * 0 for the kernel's command, or @context was opened by ibsa_verbs_open() in
 * the parent process; EOPNOTSUPP @flags is not 0 for another source, such as
 * sysfs if the kernel has no such command; EIO the device has disappeared, or
 * its fabric server has ended or does not answer; ENOMEM; or the error of the
 * kernel's command. Any thread may call ibsa_query_gid_ex().
 *
 * Source: ibv_query_gid_ex(3) of rdma-core.
 */
int ibsa_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags) IBSA_MUST_USE;

/**
 * ibsa_query_gid_table - read all entries of a device that are not empty
 * @context:     of libibverbs or of ibsa_verbs_open()
 * @entries:     receives the entries of all ports, ordered by port, then by
 *               index
 * @max_entries: number of entries for which @entries has room
 * @flags:       must be 0
 *
 * Reads the entries from the sources of ibsa_query_gid_ex(). If the kernel's
 * command cannot return the whole table, ibsa_query_gid_table() reads sysfs.
 *
 * Return: the number of entries, or a negative errno, and the content of
 * @entries is undefined: -EINVAL more than @max_entries entries are not empty,
 * an entry cannot be read, @context was opened by ibsa_verbs_open() in the
 * parent process, or, from the kernel's command, @flags is not 0 or
 * @max_entries is 0; -EOPNOTSUPP @flags is not 0 for another source (see
 * ibsa_query_gid_ex()); -EIO the device has disappeared, or its fabric server
 * has ended or does not answer; -ENOMEM; or the error of the kernel's
 * command. Any thread may call ibsa_query_gid_table().
 *
 * Source: ibv_query_gid_table(3) of rdma-core.
 */
ssize_t ibsa_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags) IBSA_MUST_USE;

/**
 * _ibv_query_gid_ex - called by the inline function ibv_query_gid_ex() of
 * <infiniband/verbs.h>
 * @entry_size: bytes of @entry; the bytes after the first 32 are set to zero
 *              unless the kernel provides them
 *
 * The other arguments are those of ibsa_query_gid_ex(). libibverbs has a
 * function of the same name, which crashes on a context of ibsa_verbs_open(). A
 * program that links both libraries uses the function of the library that is
 * linked first: for such contexts, link libibsa first.
 *
 * Return: 0, or a positive errno as ibsa_query_gid_ex(); EINVAL also if
 * @entry_size is below 32 or, with the kernel's command, above 65535.
 */
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t entry_size);

/**
 * _ibv_query_gid_table - called by the inline function ibv_query_gid_table() of
 * <infiniband/verbs.h>
 * @entry_size: bytes from the start of one entry to the start of the next; the
 *              bytes after the first 32 are set to zero unless the kernel
 *              provides them; if below 32, each entry is cut to @entry_size
 *              bytes
 *
 * The other arguments are those of ibsa_query_gid_table().
 *
 * Return: the number of entries, or a negative errno, as
 * ibsa_query_gid_table(); -EINVAL also if @entry_size is 0.
 */
ssize_t _ibv_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags, size_t entry_size);

/**
 * ibv_gid_reachable - query the SA for the reachability of a GID
 * @context: of libibverbs or of ibsa_verbs_open()
 * @port:    number of the port that queries, from 1; 0: the first active port
 *           whose GID 0 has the subnet prefix of *@gid_p, or else the first
 *           active port; Ethernet ports only if the program gave the address of
 *           an SA
 * @gid_p:   unicast or multicast, network byte order; not written to
 * @timeout: ignored; pass 0, which Solaris requires
 *
 * Queries the SA for one reversible path from the port's GID at index 0, and
 * waits for the reply, up to 10 s. The result comes from the database of the
 * SA, see ibsa_reach_wait(). Several threads may call ibv_gid_reachable() at
 * the same time; no thread needs to read the context's events. The first call
 * starts a thread of the library, which ibsa_close_device() ends: do not close
 * @context with the ibv_close_device() of libibverbs. ibsa_verbs_close() also
 * ends the thread of a context of ibsa_verbs_open().
 *
 * Return: 0 the SA has a path; -1 and errno: ENXIO the SA has no path; EINVAL
 * @context is NULL or was opened by ibsa_verbs_open() in the parent process,
 * @gid_p is NULL or the GID is all zero, there is no such port, or the port is
 * an Ethernet port and the program gave no address of an SA; EIO the SA does
 * not reply, is busy or refuses, the port has no SM, no port is active, the
 * device cannot be opened, or @context was closed during the call; ENOMEM;
 * EINTR a signal with a handler without SA_RESTART arrived. Any thread may call
 * ibv_gid_reachable().
 *
 * Source: ibv_gid_reachable(3) of Solaris; IBA vol 1, 15.2.5.16.
 */
int ibv_gid_reachable(struct ibv_context *context, unsigned int port,
		      union ibv_gid *gid_p, int timeout);

/* Kinds of events to receive; the values of Solaris. 2 is not used. */
enum ibv_sm_event_type {
	IBV_SM_EVENT_MGID = 1,	    /* groups that are listed */
	IBV_SM_EVENT_MGID_ALL = 4,  /* every group */
	IBV_SM_EVENT_UGID = 8,	    /* GIDs of ports that are listed */
	IBV_SM_EVENT_UGID_ALL = 16, /* every GID of a port */
	IBV_SM_EVENT_ALL = 32,	    /* every group and GID */
};

/* A bitwise OR of enum ibv_sm_event_type, for which C++ needs an integer. */
typedef unsigned int ibv_sm_event_type_t;

/*
 * Maximum number of GIDs in one call, and of different GIDs for which a context
 * has registrations.
 */
enum { IBSA_SM_EVENT_GIDS_MAX = 65536 };

/**
 * ibv_register_sm_events - receive events when ports and groups come and go
 * @context: of libibverbs or of ibsa_verbs_open()
 * @event:   for the GIDs in @gids: IBV_SM_EVENT_MGID, IBV_SM_EVENT_UGID, or
 *           both. For all GIDs, without @gids: an OR of IBV_SM_EVENT_MGID_ALL,
 *           IBV_SM_EVENT_UGID_ALL and IBV_SM_EVENT_ALL
 * @gid_num: number of GIDs in @gids, up to IBSA_SM_EVENT_GIDS_MAX; 0 without
 *           @gids
 * @gids:    the GIDs, network byte order; copied. NULL: all GIDs. Each GID must
 *           be of a kind in @event. The first byte of a group's GID is ff, and
 *           the second byte 02, 05, 08, 0e, 12, 15, 18 or 1e (hexadecimal)
 *
 * Subscribes at the SA through each active InfiniBand and Omni-Path port of the
 * device and, if the program gave the address of an SA, through each active
 * Ethernet port. The first registration of a context, and each registration
 * while the library neither has nor requests a subscription at any port, waits
 * until the SA has accepted the subscription of at least one port or all ports
 * have failed, up to 10 s. A port that was not active is usually subscribed
 * only when the program calls ibv_register_sm_events() again after the port
 * became active. Until ibv_unregister_sm_events(), each matching change is an
 * event of the context: its async_fd becomes readable, and
 * ibsa_get_async_event() returns the event. A change is reported once, however
 * many registrations match it; the same change, reported to several ports of
 * one subnet within one second, is one event. Events of one port are in order.
 * Ports and groups that exist before the subscription are not reported. Events
 * may arrive before ibv_register_sm_events() returns. Events may be lost; see
 * gaps of struct ibsa_verbs_options.
 *
 * The library counts registrations for each GID and each kind:
 * ibv_unregister_sm_events() must end each as often as it was registered.
 * IBV_SM_EVENT_ALL is a kind of its own, other than the two kinds that it
 * includes. The first registration turns async_fd into an epoll file; see
 * ibsa_verbs_attach().
 *
 * Return: 0; -1 and errno, and nothing is registered: EINVAL the arguments are
 * not as above, or this process is a forked child, and the parent process has
 * opened @context with ibsa_verbs_open(), attached it or registered events with
 * it; ENODEV all ports of the device are Ethernet ports, and
 * ibsa_verbs_attach() or ibsa_verbs_open() gave no address of an SA; EAGAIN no
 * port is active, or no active port has an SM; EBUSY another program, or
 * another client, device or context of this program, receives the Reports of a
 * port, and no other port could subscribe (contexts of one device share their
 * subscriptions if their options are the same); EBUSY also if this thread has
 * called ibsa_verbs_async_fd_get() and not ibsa_verbs_async_fd_put(), or if
 * another thread has done so and did not call ibsa_verbs_async_fd_put() within
 * 10 s; EIO the SA did not reply, is busy or refused, the device cannot be
 * opened, or @context was closed during the call; ENOMEM, also if the context
 * would have registrations for more than IBSA_SM_EVENT_GIDS_MAX different GIDs;
 * EMFILE, ENFILE no file descriptor is free. Any thread may call
 * ibv_register_sm_events().
 *
 * Source: ibv_register_sm_events(3) of Solaris; IBA vol 1, 13.4.8.3, 13.4.11.
 */
int ibv_register_sm_events(struct ibv_context *context,
			   ibv_sm_event_type_t event, int gid_num,
			   union ibv_gid *gids);

/**
 * ibv_unregister_sm_events - end registrations
 * @context: the context with which the events were registered
 * @event:   as in ibv_register_sm_events()
 * @gid_num: as in ibv_register_sm_events()
 * @gids:    as in ibv_register_sm_events(), in any order; the list may combine
 *           GIDs of several registrations
 *
 * While the context has other registrations or is attached (see
 * ibsa_verbs_attach()), ibsa_get_async_event() still returns events that were
 * queued before. If the context has no other registration and is not attached,
 * queued events are discarded, and async_fd is restored. Does not wait until
 * the SA has ended the subscriptions.
 *
 * Return: 0; -1 and errno, and nothing is changed: EINVAL as in
 * ibv_register_sm_events(), or a GID or kind is not registered, or a GID is
 * listed more often than it is registered. Any thread may call
 * ibv_unregister_sm_events().
 */
int ibv_unregister_sm_events(struct ibv_context *context,
			     ibv_sm_event_type_t event, int gid_num,
			     union ibv_gid *gids);

/*
 * Event types outside enum ibv_event_type: the numbers of Solaris, which are
 * other events in rdma-core, plus 0x1000. element.gid is the GID.
 */
#define IBV_EVENT_MCG_CREATED 0x1013
#define IBV_EVENT_MCG_DELETED 0x1014
#define IBV_EVENT_GID_AVAIL 0x1015
#define IBV_EVENT_GID_UNAVAIL 0x1016
/*
 * Events may have been missed at the port element.port_num; if it is 0, at all
 * ports or at more than one. Only with the option gaps of ibsa_verbs_attach().
 */
#define IBV_EVENT_SM_GAP 0x1017

/**
 * struct ibsa_async_event - struct ibv_async_event, with room for a GID
 * @event_type: enum ibv_event_type, or one of IBV_EVENT_MCG_CREATED to
 *              IBV_EVENT_SM_GAP; an int, because an enum of C++ may not hold
 *              numbers other than its values
 * @element:    for an event of the device, as in struct ibv_async_event; gid,
 *              network byte order, for IBV_EVENT_MCG_CREATED to
 *              IBV_EVENT_GID_UNAVAIL; port_num for IBV_EVENT_SM_GAP, 0 for all
 *              ports or more than one
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
 * struct ibsa_verbs_options - options of a context; zero is the default of each
 * member
 * @access:     how requests reach the SA, copied. All members of @access must
 *              be zero for a context of ibsa_verbs_open(), because
 *              ibsa_verbs_open() takes these options. If @access.sa is not
 *              NULL, the requests of all ports, also of Ethernet ports, go to
 *              this address; if it is NULL, Ethernet ports are not used, since
 *              their networks have no SA
 * @audit_ms:   interval in milliseconds at which the library queries the SA for
 *              its subscriptions, to find lost ones; default
 *              IBSA_DEFAULT_AUDIT_MS
 * @max_events: maximum number of events of the SM that wait to be read, up to
 *              1048576; default IBSA_DEFAULT_EVENT_QUEUE. An event of the SM
 *              that exceeds
 *              @max_events is lost
 * @gaps:       report with IBV_EVENT_SM_GAP that events may have been lost;
 *              default: do not report
 * @no_environment: ignore all environment variables, as if they were unset; see
 *              ibsa_environment_ignore(). Must be false for a context of
 *              ibsa_verbs_open(), because ibsa_verbs_open() takes this option
 */
struct ibsa_verbs_options {
	struct ibsa_sa_access access;
	unsigned int audit_ms;
	unsigned int max_events;
	bool gaps;
	bool no_environment;
};

/* For bindings: ibsa_verbs_attach() with the size of @options. */
int ibsa_verbs_attach_sized(struct ibv_context *context,
			    const struct ibsa_verbs_options *options,
			    size_t size) IBSA_MUST_USE;

/**
 * ibsa_verbs_attach - make async_fd readable for events of the SM
 * @context: of libibverbs or of ibsa_verbs_open()
 * @options: NULL: all defaults
 *
 * Call ibsa_verbs_attach() to set options, and in programs that add async_fd to
 * an epoll set. In other programs, the first ibv_register_sm_events() changes
 * async_fd in the same way. The descriptor async_fd keeps its number, but
 * becomes an epoll file over the events of the device and of the SM, with the
 * flags O_NONBLOCK and FD_CLOEXEC of the device's file. An epoll set contains
 * files, not numbers: attach before EPOLL_CTL_ADD. The async_fd of
 * ibsa_verbs_open() does not change.
 *
 * While the context is attached, read its events with ibsa_get_async_event(),
 * not with the ibv_get_async_event() of libibverbs. While
 * ibsa_get_async_event() lets libibverbs read an event of the device, the
 * member async_fd of struct ibv_context has a different value: programs with
 * several threads keep a copy of the number. If another thread has called
 * ibsa_verbs_async_fd_get(), ibsa_verbs_attach() waits up to 10 s for that
 * thread's ibsa_verbs_async_fd_put().
 *
 * Return: 0; -EINVAL @context is NULL or closed; this process is a forked
 * child, and the parent process has opened @context with ibsa_verbs_open(),
 * attached it or registered events with it; an option is out of range; or a
 * member of access or no_environment in @options is set for a context of
 * ibsa_verbs_open(); -EALREADY the context is attached; -EBUSY a member of
 * access in @options is set, and @context was used before for a query or a
 * subscription; -EBUSY also if no_environment is set, and an earlier call with
 * @context has read the environment variables; -EBUSY also if this thread has
 * called ibsa_verbs_async_fd_get() and not ibsa_verbs_async_fd_put(), or if
 * another thread has done so and did not call ibsa_verbs_async_fd_put() within
 * 10 s; -EMFILE, -ENFILE no file descriptor is free; -ENOMEM; or the error of
 * epoll_create1(), epoll_ctl() or dup3(). After an error nothing has changed,
 * except that @context may ignore the environment variables. Any thread may
 * call ibsa_verbs_attach().
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_verbs_attach(struct ibv_context *context,
		  const struct ibsa_verbs_options *options)
{
	return ibsa_verbs_attach_sized(context, options, sizeof(*options));
}

/**
 * ibsa_verbs_detach - undo ibsa_verbs_attach() and end all registrations
 * @context: attached, or with registrations
 *
 * Discards events of the SM that were not read, and restores async_fd. If
 * @context is of libibverbs, and the only calls on it that are in progress in
 * other threads are those of ibsa_get_async_event(), ibsa_verbs_detach() also
 * waits, up to two seconds for each port, until the SA has ended the
 * subscriptions. When ibsa_verbs_detach() and these calls have returned, the
 * library holds nothing for the context, not even its options: libibverbs may
 * then close the context.
 *
 * Return: 0; -EINVAL the context is neither attached nor has registrations, or
 * there is no such context. Any thread may call ibsa_verbs_detach().
 */
int ibsa_verbs_detach(struct ibv_context *context);

/**
 * ibsa_close_device - end everything that libibsa has for a context, and close
 * it
 * @context: of libibverbs or of ibsa_verbs_open()
 *
 * Ends registrations and restores async_fd. Calls in progress in other threads
 * fail: ibv_gid_reachable() and ibv_register_sm_events() with EIO,
 * ibsa_get_async_event() with EBADF. Waits until the calls of other threads on
 * @context have returned, and until each other thread that has called
 * ibsa_verbs_async_fd_get() has called ibsa_verbs_async_fd_put(). Does not wait
 * for threads that wait for an event, nor for a call of this thread that a
 * signal handler interrupted. Also waits, up to two seconds for each port,
 * until the SA has ended the subscriptions. Then closes a context of libibverbs
 * with ibv_close_device() of libibverbs, which is a cancellation point, and a
 * context of ibsa_verbs_open() with ibsa_verbs_close(), which is not.
 *
 * Return: as ibv_close_device(): 0, or -1 and errno; EINVAL @context is NULL,
 * or was opened by ibsa_verbs_open() in the parent process; ENOSYS libibverbs
 * is not loaded, so that a context of libibverbs was not closed. Any thread may
 * call ibsa_close_device(), also in callbacks of <ibsa/ib_sa.h>.
 */
int ibsa_close_device(struct ibv_context *context);

/**
 * ibsa_get_async_event - wait for an event of the device or of the SM
 * @context: of libibverbs or of ibsa_verbs_open()
 * @event:   receives the event; call ibsa_ack_async_event() for it
 *
 * Reads the events of the device in the calling thread, with
 * ibv_get_async_event() of libibverbs. The library has no thread of its own
 * that reads these events. A call of ibsa_get_async_event() that already waits
 * when the first registration is made also returns events of the SM. The events
 * of the device are in order, and so are the events of the SM at one port.
 *
 * As with libibverbs, the thread may be cancelled while it waits, and a signal
 * handler may close @context or fork. A thread that is cancelled loses no
 * event: the cancellation takes effect before the thread takes an event. A
 * signal whose handler has SA_RESTART does not end the wait, unless the program
 * has installed a handler without SA_RESTART for another signal that the thread
 * does not block: then each signal with a handler ends the wait with EINTR,
 * because poll(2) does not tell which signal arrived.
 *
 * Return: 0; -1 and errno: EAGAIN there is no event, and async_fd has
 * O_NONBLOCK; EINTR a signal ended the wait; EBADF the context was closed
 * during the call; EINVAL @context or @event is NULL, or this process is a
 * forked child, and the parent process has opened @context with
 * ibsa_verbs_open(), attached it or registered events with it; ENOSYS
 * libibverbs, which reads the events of the device, is not loaded; ENOMEM;
 * EMFILE, ENFILE no file descriptor is free; or the error of libibverbs. Any
 * thread may call ibsa_get_async_event(), and several threads may wait at the
 * same time.
 */
int ibsa_get_async_event(struct ibv_context *context,
			 struct ibsa_async_event *event);

/**
 * ibsa_ack_async_event - acknowledge an event
 * @event: of ibsa_get_async_event()
 *
 * Passes events of the device to ibv_ack_async_event() of libibverbs:
 * ibv_destroy_qp() and similar functions wait for this. Does nothing for events
 * of the SM. Any thread may call ibsa_ack_async_event().
 */
void ibsa_ack_async_event(struct ibsa_async_event *event);

/**
 * ibsa_event_type_text - describe an event type
 * @event_type: of struct ibsa_async_event
 *
 * Return: a constant such as "GID available"; for all types other than those of
 * the SM, the string of ibv_event_type_str() of libibverbs, or "unknown" if
 * libibverbs is not loaded. Any thread may call ibsa_event_type_text().
 */
const char *ibsa_event_type_text(int event_type);

struct ibsa_verbs_async_fd;

/**
 * ibsa_verbs_async_fd_get - set the member async_fd to the device's own file
 * @context: any context
 *
 * When libibverbs creates a CQ, QP, SRQ or WQ, it passes async_fd to the
 * kernel. While the context is attached or has registrations for events of the
 * SM, async_fd is an epoll file, which the kernel does not accept: the creation
 * fails with EBADF. From this call until ibsa_verbs_async_fd_put(), the member
 * async_fd is the device's own file.
 *
 * This header redefines ibv_create_qp() and the other functions of libibverbs
 * that create queues, so that they call ibsa_verbs_async_fd_get() (get) and
 * ibsa_verbs_async_fd_put() (put) themselves. Call get before, and put after, a
 * function of another library that creates queues, such as rdma_create_qp() or
 * mlx5dv_create_qp(). On a context that is not attached and has no
 * registrations, an attach or a first registration by another thread waits for
 * the put. The thread that calls get must also call put, and must not be
 * cancelled in between. Pairs of get and put may overlap, in one thread and in
 * several. To poll async_fd, copy the member before the get: between get and
 * put the member has another value, but the copy can still be polled.
 *
 * Return: a value for ibsa_verbs_async_fd_put(), which accepts NULL as well.
 * NULL, and async_fd is unchanged: the context was opened by ibsa_verbs_open(),
 * or there is not enough memory. errno is unchanged. Any thread may call
 * ibsa_verbs_async_fd_get().
 */
struct ibsa_verbs_async_fd *
ibsa_verbs_async_fd_get(struct ibv_context *context);

/**
 * ibsa_verbs_async_fd_put - undo ibsa_verbs_async_fd_get()
 * @held: of ibsa_verbs_async_fd_get(); NULL: nothing happens
 *
 * errno is unchanged. Only the thread that called ibsa_verbs_async_fd_get() may
 * call ibsa_verbs_async_fd_put(). ibsa_close_device() of another thread waits
 * until ibsa_verbs_async_fd_put() is called.
 */
void ibsa_verbs_async_fd_put(struct ibsa_verbs_async_fd *held);

/**
 * ibsa_stock_event_gid - return the GID of an event in struct ibv_async_event
 * of libibverbs
 * @event: an event that ibv_get_async_event() of libibsa-verbs-preload.so, the
 *         library for LD_PRELOAD, returned, or a copy of it; the event is not
 *         yet acknowledged
 *
 * Use ibsa_stock_event_gid() in code that calls libibverbs directly, in a
 * process with libibsa-verbs-preload.so. For an event of the SM,
 * @event->event_type is one of IBV_EVENT_MCG_CREATED to IBV_EVENT_SM_GAP. For
 * IBV_EVENT_SM_GAP, @event->element.port_num is the port number, or 0 for all
 * ports or more than one; for the other types, ibsa_stock_event_gid() returns
 * the GID.
 *
 * Return: the GID, network byte order, valid until the event is acknowledged;
 * NULL for an event of the device and for a gap. Any thread may call
 * ibsa_stock_event_gid().
 */
const union ibv_gid *ibsa_stock_event_gid(const struct ibv_async_event *event);

/**
 * ibsa_stock_get_event - wait for an event, also after the context is closed
 * @context: of libibverbs
 * @event:   receives the event
 *
 * libibsa-verbs-preload.so, the library for LD_PRELOAD, uses this function.
 * ibsa_stock_get_event() does the same as ibsa_get_async_event(), with two
 * exceptions. If the context is closed during the call, the call continues to
 * wait, as with libibverbs, until the thread is cancelled or a signal
 * interrupts the wait. If there is not enough memory for what the library
 * stores about the context, or no file descriptor is free, the call reads an
 * event of the device with libibverbs, and events of the SM do not end the
 * wait; with a context of ibsa_verbs_open(), the call fails.
 *
 * Return: 0; -1 and errno: EBADF a signal whose handler has SA_RESTART
 * interrupted the wait, and the context is closed; or another error of
 * ibsa_get_async_event(). Any thread may call ibsa_stock_get_event().
 */
int ibsa_stock_get_event(struct ibv_context *context,
			 struct ibsa_async_event *event);

#ifdef IBSA_VERBS_NAMES
#define ibv_async_event ibsa_async_event
#define ibv_get_async_event ibsa_get_async_event
#define ibv_ack_async_event ibsa_ack_async_event
#define ibv_close_device ibsa_close_device
#define ibv_event_type_str ibsa_event_type_text
#endif

IBSA_END

#include <ibsa/verbs_queue.h>

#endif
