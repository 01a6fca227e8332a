/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Linux kernel's ib_sa functions for user space: path, service, multicast
 * and GUID queries from any thread, with replies in callbacks.
 *
 * Each device has a worker thread that runs its callbacks. For a device that
 * was opened without a worker, callbacks run inside ibsa_ib_device_dispatch(),
 * ibsa_ib_device_wait(), ib_sa_unregister_client() and ibsa_ib_device_put(). A
 * callback never runs inside a function that starts a query. A device runs one
 * callback at a time, and calls the callback of each query exactly once. A
 * callback may start and cancel queries, and may free the arguments that the
 * program passed when it started the query.
 *
 * A forked child cannot use its parent's clients and devices: it registers and
 * opens its own. If the child unregisters a client of its parent, nothing
 * happens. If the child calls ibsa_ib_device_put() for a device of its parent,
 * the last such call closes the child's copies of the device's descriptors, and
 * does nothing else.
 *
 * Source: Linux include/rdma/ib_sa.h, drivers/infiniband/core/sa_query.c.
 *
 * The functions are in libibsa-compat: link with the flags of "pkg-config
 * ibsa-compat".
 */
#ifndef IBSA_IB_SA_H
#define IBSA_IB_SA_H

#include <ibsa/event.h>
#include <ibsa/ib_sa_types.h>
#include <ibsa/ibsa.h>
#include <ibsa/service.h>

IBSA_BEGIN

struct ib_sa_query;
struct ibv_ah_attr;
struct ibsa_fabric;
struct ibsa__sa;

/**
 * struct ib_sa_client - one user of the functions of ib_sa.h, such as a module
 * of a program; the members belong to the library
 *
 * A client with all members zero is not registered, and queries for this client
 * fail with -EINVAL. ib_sa_unregister_client() sets all members to zero.
 */
struct ib_sa_client {
	struct ibsa__sa *sa;
	unsigned long users;
};

/**
 * ib_sa_register_client - register a client before its first query
 * @client: not registered; its contents are ignored. The memory belongs to the
 *          program and must stay at its address until ib_sa_unregister_client()
 *
 * If memory is short, @client stays unregistered, and queries for @client fail
 * with -EINVAL. Any thread may call ib_sa_register_client().
 */
void ib_sa_register_client(struct ib_sa_client *client);

/**
 * ib_sa_unregister_client - wait until no callback of a client will run any
 * more
 * @client: registered; if @client is all zero, nothing happens
 *
 * Releases the client's services, ends its device watches and frees its
 * multicast memberships. Then waits until all queries, services and watches of
 * @client have ended and their callbacks have returned, but cancels no query:
 * to avoid waiting for replies and timeouts, call ib_sa_cancel_query() first.
 * While ib_sa_unregister_client() waits, it dispatches the devices without a
 * worker that have queries, services or watches of @client. The program must
 * not start a query for @client during the call. When ib_sa_unregister_client()
 * has returned, also inside a callback, the program may free the memory of
 * @client.
 *
 * Inside a callback of any device, ib_sa_unregister_client() does the same, but
 * returns without waiting. The callbacks of the client's queries in progress,
 * and the last callbacks of its services and watches, are then called after the
 * return, and a callback of a membership may still run in another thread. What
 * the contexts of these callbacks point to must stay valid until then. Any
 * thread may call ib_sa_unregister_client().
 */
void ib_sa_unregister_client(struct ib_sa_client *client);

/**
 * struct ibsa_ib_device_options - how to open a device; zero is the default of
 * each member
 * @name:       name of the device, or of a node in a fabric; NULL: in a fabric,
 *              the node $IBSA_NODE (not with @on or a capture) or else the
 *              first channel adapter; otherwise the device of @context or, if
 *              that is NULL, the first device with an active InfiniBand port
 * @fabric:     path of a topology file or capture of an embedded fabric to use
 *              instead of a device, or "unix:PATH" of a fabric server; "": a
 *              device of this machine; NULL: $IBSA_FABRIC, unless @context is
 *              given or the program is set-uid
 * @on:         a loaded fabric to use instead of @fabric; the program must not
 *              release it before ibsa_ib_device_put() has closed the device
 * @context:    a verbs context of the device, as in struct ibsa_options. The
 *              program must have used each needed port at least once before it
 *              closes the context
 * @access:     how requests of each port reach the SA
 * @window:     limits the retries at each port: at most 64 times @window
 *              requests are sent again at a time, or @window requests while the
 *              SA replies to no request; default IBSA_DEFAULT_WINDOW. First
 *              tries do not wait
 * @audit_ms:   interval in milliseconds at which the library reads multicast
 *              memberships, registered services and the subscriptions of
 *              ibsa_device_watch_start() back from the SA; default
 *              IBSA_DEFAULT_AUDIT_MS
 * @no_sharing: send each PathRecord query as a request of its own. By default,
 *              identical PathRecord queries share one request
 * @no_thread:  do not start a worker thread: the program polls
 *              ibsa_ib_device_fd() and calls ibsa_ib_device_dispatch()
 * @no_environment: ignore all environment variables, as if they were unset; see
 *              ibsa_environment_ignore()
 */
struct ibsa_ib_device_options {
	const char *name;
	const char *fabric;
	struct ibsa_fabric *on;
	struct ibv_context *context;
	struct ibsa_sa_access access;
	unsigned int window;
	unsigned int audit_ms;
	bool no_sharing;
	bool no_thread;
	bool no_environment;
};

/**
 * ibsa_ib_device_get - open a device with all defaults, or share it
 * @name: name of the device, or of a node in the fabric that $IBSA_FABRIC
 *        names; NULL: the first device with an active InfiniBand port, or, in a
 *        fabric, the node $IBSA_NODE (not in a capture) or else the first
 *        channel adapter
 * @out:  receives the device; each ibsa_ib_device_get() needs one
 *        ibsa_ib_device_put()
 *
 * Calls of ibsa_ib_device_get() for the same device in one process share the
 * device and its worker, whatever name of the device they give. A port is
 * opened when a function uses it for the first time.
 *
 * Return: 0; -EINVAL the topology file or capture in $IBSA_FABRIC has an error,
 * $IBSA_FABRIC is "unix:" without a path, or the name of the node is too long;
 * -EMFILE; -ENETDOWN @name is NULL, no fabric is used, and no InfiniBand port
 * is active; -ENODEV no such device or node, or no fabric server; -ENOENT no
 * such topology file or capture; -ENOMEM; -ENOSYS the RDMA modules are not
 * loaded; -ENXIO $IBSA_NODE is NAME/PORT, and the node NAME has no port PORT;
 * -EACCES, -ENAMETOOLONG, -EPROTO, -ETIMEDOUT and -EUSERS of a fabric server as
 * ibsa_open(); or the system's error. After an error @out is unchanged. Any
 * thread may call ibsa_ib_device_get().
 */
int ibsa_ib_device_get(const char *name, struct ib_device **out) IBSA_MUST_USE;

/* For bindings: ibsa_ib_device_open() with the size of @options. */
int ibsa_ib_device_open_sized(const struct ibsa_ib_device_options *options,
			      size_t size, struct ibsa_error *error,
			      struct ib_device **out) IBSA_MUST_USE;

/**
 * ibsa_ib_device_open - open a device with options; it is not shared
 * @options: NULL: all defaults. Copied with its strings and @sa of @access
 * @error:   receives, on failure, what failed and what to do; may be NULL
 * @out:     receives the device; ibsa_ib_device_put() closes it
 *
 * Return: as ibsa_ib_device_get(); -EINVAL also if window, access.grh or the
 * lmc of access.sa is out of range. Any thread may call ibsa_ib_device_open().
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_ib_device_open(const struct ibsa_ib_device_options *options,
		    struct ibsa_error *error, struct ib_device **out)
{
	return ibsa_ib_device_open_sized(options, sizeof(*options), error, out);
}

/**
 * ibsa_ib_device_put - end the use of a device
 * @device: of ibsa_ib_device_get() or ibsa_ib_device_open(); NULL: nothing
 *          happens
 *
 * When all uses of a device have ended, the device is closed: queries in
 * progress end, their callbacks are called with -EINTR, and the library asks
 * the SA to delete the registered services, and waits for this up to two
 * seconds for each port. If the device has a worker, the worker closes it;
 * otherwise ibsa_ib_device_put() closes it. Outside of callbacks,
 * ibsa_ib_device_put() returns after the close.
 *
 * Inside a callback of @device or of another device, ibsa_ib_device_put() does
 * not wait for other threads. If @device has a worker, ibsa_ib_device_put()
 * inside a callback returns at once, and the worker closes @device. If @device
 * has no worker, but this or another thread is in a call that dispatches
 * @device, the dispatching call closes @device before it returns. In both cases
 * a callback of @device that is running returns before the close. If no worker
 * and no call dispatches @device, ibsa_ib_device_put() closes @device and then
 * returns. Any thread may call ibsa_ib_device_put().
 */
void ibsa_ib_device_put(struct ib_device *device);

/**
 * ibsa_ib_device_fd - the file descriptor to poll for reading, without a worker
 * @device: opened with no_thread
 *
 * The descriptor belongs to the device. Call ibsa_ib_device_fd() after a query
 * or another function has used a port of the device: before the first use of a
 * port, ibsa_ib_device_fd() may return a descriptor for a device for which it
 * later returns -1.
 *
 * The fd need not become readable when something is due at a certain time, such
 * as a retry: poll the fd for at most ibsa_ib_device_timeout_ms().
 *
 * Return: an fd that becomes readable when ibsa_ib_device_dispatch() has
 * something to receive, when another thread starts a query, and when another
 * thread ends a dispatch during which ibsa_ib_device_timeout_ms() was called;
 * -1 if the device has a worker, belongs to the parent process, is on a fabric
 * with a virtual clock, or cannot be polled (ibsim). On a fabric with a virtual
 * clock and with ibsim, use ibsa_ib_device_wait(). Any thread may call
 * ibsa_ib_device_fd().
 */
int ibsa_ib_device_fd(struct ib_device *device);

/**
 * ibsa_ib_device_timeout_ms - how long to poll the fd at most, without a worker
 * @device: opened with no_thread
 *
 * Return: milliseconds, rounded up, after which ibsa_ib_device_dispatch() must
 * be called even if the fd is not readable; 0: call ibsa_ib_device_dispatch()
 * now; -1: no limit, because no deadline is pending, the device has a worker or
 * belongs to the parent process, or another thread dispatches the device. Any
 * thread may call ibsa_ib_device_timeout_ms().
 */
int ibsa_ib_device_timeout_ms(struct ib_device *device);

/**
 * ibsa_ib_device_dispatch - process what is due, without waiting
 * @device: opened with no_thread
 *
 * Return: 0; -EBUSY a callback of the device called ibsa_ib_device_dispatch();
 * or another thread dispatches the device, for example in
 * ib_sa_unregister_client(): poll again; -EINVAL the device has a worker, or
 * belongs to the parent process, which called fork(2); or the transport's
 * receive error, after which further calls still end queries at their
 * deadlines. Only one thread at a time may call ibsa_ib_device_dispatch() and
 * ibsa_ib_device_wait().
 */
int ibsa_ib_device_dispatch(struct ib_device *device);

/**
 * ibsa_ib_device_wait - wait until there is something to do, then dispatch
 * @device:     opened with no_thread
 * @timeout_ms: longest wait in milliseconds; 0: do not wait; -1: no limit
 *
 * On a fabric with a virtual clock, ibsa_ib_device_wait() advances the clock,
 * at most by @timeout_ms, instead of waiting.
 *
 * Return: as ibsa_ib_device_dispatch(), 0 also after @timeout_ms; or, without a
 * dispatch of the ports, -EINTR a signal ended the wait, or the error of the
 * wait. Only one thread at a time may call ibsa_ib_device_wait() and
 * ibsa_ib_device_dispatch().
 */
int ibsa_ib_device_wait(struct ib_device *device, int timeout_ms);

/**
 * ibsa_last_reply - the reply from which a callback's status was derived
 * @device: the device whose callback calls ibsa_last_reply()
 *
 * Use ibsa_last_reply() to find out the cause of a status that a callback
 * receives: the reply has the MAD status, the local error, the number of tries
 * and the round-trip time.
 *
 * Return: the reply, valid until the callback returns; NULL outside of the
 * callbacks of queries and memberships of @device, and usually in callbacks
 * that no reply caused, such as the callback of a lost membership. In the
 * callback of a query that was never sent, because it was cancelled or the
 * device was closed before, the result is NULL or a reply with @tries 0.
 */
const struct ibsa_reply *ibsa_last_reply(const struct ib_device *device);

/**
 * ib_sa_path_rec_get - query the SA for one path
 * @client:     registered
 * @device:     the device
 * @port_num:   number of its port, from 1
 * @rec:        the values to match, network byte order; copied. @rec_type is
 *              SA_PATH_REC_TYPE_IB or SA_PATH_REC_TYPE_OPA
 * @comp_mask:  the members of @rec that the SA compares, network byte order:
 *              IB_SA_PATH_REC_DGID | ...
 * @timeout_ms: milliseconds from the call to the end of the query; 0 counts as
 *              1
 * @gfp_mask:   ignored
 * @callback:   called once, later, never from within this call; may be NULL.
 *              Its @status is 0 the SA replied with a path; -EINVAL the SA
 *              replied with a MAD status, see ibsa_last_reply(); -ETIMEDOUT no
 *              reply within @timeout_ms; -EINTR cancelled, or the device was
 *              closed or disappeared; -EIO the request could not be sent, or a
 *              malformed or truncated reply. @resp of @callback is valid until
 *              the callback returns: with @status 0 the path; with -EINVAL the
 *              record that the SA sent with its status, or zeros except
 *              @rec_type if the SA was busy until the end or sent no whole
 *              record; otherwise NULL
 * @context:    passed to @callback unchanged
 * @sa_query:   receives the pointer that ib_sa_cancel_query() takes together
 *              with the id: stored before @callback can run; NULL after an
 *              error. May be NULL
 *
 * The first call for a port opens the port and may block. A call with an OPA
 * record may also block up to 3 s, until the fabric manager has reported which
 * form of query it supports; on a device with no_thread, and in a callback,
 * only the first call for a port may block for this report. An OPA record is
 * sent in the form that opa_pr_query_possible() returns; the reply to the
 * InfiniBand form is converted to an OPA record.
 *
 * Return: the id of the query, 0 or more; -EINVAL @client is not registered,
 * the device belongs to the parent process, @rec has another type, @comp_mask
 * has a bit that no IB_SA_PATH_REC_ constant has (such as a bit of
 * IBSA_PATH_CM(), which is in host byte order), or OPA records are not
 * supported; -ENODEV no such port, an Ethernet port without the address of an
 * SA, or the device is being closed; -EAGAIN the port has no SM or is down at
 * the time of the call, and no address of an SA was given to
 * ibsa_ib_device_open(); or this is the first use of the port, and the port is
 * not active or, in a fabric, has no cable; -ENOBUFS the port has 1048576
 * queries that have not ended; -EOPNOTSUPP another port of the device is open,
 * and the device (ibsim, or on a fabric with a virtual clock) supports only one
 * open port at a time; -ENOMEM; or the error from opening the port. After an
 * error
 * @callback is not called. Any thread and any callback may call
 * ib_sa_path_rec_get().
 *
 * Source: Linux drivers/infiniband/core/sa_query.c; IBA vol 1, 15.2.5.16.
 */
int ib_sa_path_rec_get(struct ib_sa_client *client, struct ib_device *device,
		       uint8_t port_num, struct sa_path_rec *rec,
		       ib_sa_comp_mask comp_mask, unsigned long timeout_ms,
		       unsigned int gfp_mask,
		       void (*callback)(int status, struct sa_path_rec *resp,
					void *context),
		       void *context, struct ib_sa_query **sa_query);

/**
 * ib_sa_service_rec_query - send one request to look up, register or delete a
 * service
 * @method: IB_MGMT_METHOD_GET look up the one record that matches;
 *          IB_MGMT_METHOD_SET register; IB_SA_METHOD_DELETE delete
 * @rec:    all members of more than one byte in network byte order, also those
 *          of type uint16_t, uint32_t and uint64_t
 *
 * The other arguments are those of ib_sa_path_rec_get(). To keep a service
 * registered, use ibsa_service_rec_register().
 *
 * Return: as ib_sa_path_rec_get(); -EINVAL also for any other method.
 *
 * Source: Linux 5.8 drivers/infiniband/core/sa_query.c; IBA vol 1, 15.2.5.14.
 */
int ib_sa_service_rec_query(struct ib_sa_client *client,
			    struct ib_device *device, uint8_t port_num,
			    uint8_t method, struct ib_sa_service_rec *rec,
			    ib_sa_comp_mask comp_mask, unsigned long timeout_ms,
			    unsigned int gfp_mask,
			    void (*callback)(int status,
					     struct ib_sa_service_rec *resp,
					     void *context),
			    void *context, struct ib_sa_query **sa_query);

/**
 * ib_sa_service_rec_get - look up all services that match
 * @callback: if its @status is 0, its @resp is an array of @num_services
 *            records, valid until the callback returns; otherwise @resp is
 *            NULL. @status has the values of ib_sa_path_rec_get(); or -ENODATA
 *            the SA replied with an empty table; or -ENOMEM not enough memory
 *            for the records
 *
 * The other arguments are those of ib_sa_path_rec_get().
 *
 * Return: as ib_sa_path_rec_get().
 *
 * Source: Linux 6.18 drivers/infiniband/core/sa_query.c.
 */
int ib_sa_service_rec_get(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	struct sa_service_rec *rec, ib_sa_comp_mask comp_mask,
	unsigned long timeout_ms, unsigned int gfp_mask,
	void (*callback)(int status, struct sa_service_rec *resp,
			 unsigned int num_services, void *context),
	void *context, struct ib_sa_query **sa_query);

/**
 * ib_sa_mcmember_rec_query - send one request about a multicast group
 * @method: IB_MGMT_METHOD_GET look up the one record that matches;
 *          IB_MGMT_METHOD_SET join or create a group; IB_SA_METHOD_DELETE leave
 *          a group
 * @rec:    members of more than one byte in network byte order
 *
 * The SA has one membership for each port and group: a Delete ends the join
 * states in @rec for all programs at the port. To stay a member of a group, use
 * ib_sa_join_multicast(): the library does not notice when the SA loses a
 * membership that ib_sa_mcmember_rec_query() has set. The other arguments are
 * those of ib_sa_path_rec_get().
 *
 * Return: as ib_sa_path_rec_get(); -EINVAL also for any other method.
 *
 * Source: Linux drivers/infiniband/core/sa_query.c; IBA vol 1, 15.2.5.17.
 */
int ib_sa_mcmember_rec_query(struct ib_sa_client *client,
			     struct ib_device *device, uint8_t port_num,
			     uint8_t method, struct ib_sa_mcmember_rec *rec,
			     ib_sa_comp_mask comp_mask,
			     unsigned long timeout_ms, unsigned int gfp_mask,
			     void (*callback)(int status,
					      struct ib_sa_mcmember_rec *resp,
					      void *context),
			     void *context, struct ib_sa_query **sa_query);

/**
 * ib_sa_guid_info_rec_query - look up, assign or remove alias GUIDs of a port
 * @rec:       one block of eight entries of the port's GUID table, whose number
 *             is in @block_num; network byte order
 * @comp_mask: IB_SA_GUIDINFO_REC_LID | ...; the bits of reserved members are
 *             ignored
 * @method:    IB_MGMT_METHOD_GET look up the block; IB_MGMT_METHOD_SET assign
 *             the entries whose bits are in @comp_mask (if such an entry is 0,
 *             the SA keeps the GUID that the port's table has there, or else
 *             chooses a GUID); IB_SA_METHOD_DELETE remove the entries whose
 *             bits are in @comp_mask
 *
 * The other arguments are those of ib_sa_path_rec_get().
 *
 * Return: as ib_sa_path_rec_get(); -EINVAL also for any other method.
 *
 * Source: Linux drivers/infiniband/core/sa_query.c; IBA vol 1, 15.2.5.19.
 */
int ib_sa_guid_info_rec_query(struct ib_sa_client *client,
			      struct ib_device *device, uint8_t port_num,
			      struct ib_sa_guidinfo_rec *rec,
			      ib_sa_comp_mask comp_mask, uint8_t method,
			      unsigned long timeout_ms, unsigned int gfp_mask,
			      void (*callback)(int status,
					       struct ib_sa_guidinfo_rec *resp,
					       void *context),
			      void *context, struct ib_sa_query **sa_query);

struct ibsa_rec_registration;

/**
 * ibsa_service_rec_register - register a service and keep it registered
 * @client:    registered
 * @device:    the device
 * @port_num:  number of the port that registers, from 1
 * @rec:       the record, all members in network byte order; copied
 * @comp_mask: the members of @rec that are set, network byte order; 0: all
 *             members that are not zero. id, gid, pkey and lease are always
 *             sent: id as in @rec, even if its bit is not set; if the bit of
 *             another of these is not set, its default: as gid the GID at index
 *             0 of the port, as pkey 0xffff, as lease 300 seconds
 * @report:    called for each event, by the thread that dispatches @device. In
 *             the struct that @report receives, registration is NULL (tell
 *             registrations apart by @arg), and the record is a struct
 *             ibsa_service, in host byte order. May be NULL
 * @arg:       passed to @report unchanged
 * @out:       receives the handle, before @report is called; valid until
 *             @report has been called with IBSA_REGISTRATION_RELEASED. May be
 *             NULL
 *
 * The library renews and restores the registration as ibsa_service_register()
 * does, and reads it back every audit_ms of struct ibsa_ib_device_options.
 * Unregistering @client and closing @device release the registration; @report
 * is then still called with IBSA_REGISTRATION_RELEASED.
 *
 * Return: 0; -EINVAL @client is not registered, the device belongs to the
 * parent process, a mask bit that ServiceRecord does not define, or a lease or
 * GID of 0 whose bit in @comp_mask is set; -ENODEV no such port, an Ethernet
 * port without the address of an SA, or the device is being closed; -EAGAIN the
 * port was not used before, and is not active or, in a fabric, has no cable (if
 * it was used before, the library waits for it); -EOPNOTSUPP another port of
 * the device is open, and the device (under ibsim or on a fabric with a virtual
 * clock) supports only one port at a time; -ENOMEM; or the error from opening
 * the port. After an error @report is not called. Later failures are the err of
 * IBSA_REGISTRATION_RELEASED: -EEXIST a registration of @device at this port
 * has the same ID, GID and P_Key, or is being released; -ECANCELED the
 * registration was released or the device was closed before the registration
 * began, or the close of the device stopped waiting before the Delete request
 * ended; or an error as in ibsa_service_register(). Any thread and any callback
 * may call ibsa_service_rec_register().
 *
 * Source: IBA vol 1, 15.2.5.14.
 */
int ibsa_service_rec_register(struct ib_sa_client *client,
			      struct ib_device *device, uint8_t port_num,
			      const struct ib_sa_service_rec *rec,
			      ib_sa_comp_mask comp_mask,
			      ibsa_registration_fn report, void *arg,
			      struct ibsa_rec_registration **out) IBSA_MUST_USE;

/**
 * ibsa_service_rec_release - end a registration and delete its record
 * @registration: from ibsa_service_rec_register(); may be NULL
 *
 * Does not wait: IBSA_REGISTRATION_RELEASED is reported later. If @registration
 * is NULL, was released before, or has been reported as released, nothing
 * happens. Any thread and any callback may call ibsa_service_rec_release().
 */
void ibsa_service_rec_release(struct ibsa_rec_registration *registration);

struct ibsa_device_watch;

/* For bindings: ibsa_device_watch_start() with the size of @options. */
int ibsa_device_watch_start_sized(struct ib_sa_client *client,
				  struct ib_device *device, uint8_t port_num,
				  const struct ibsa_event_options *options,
				  size_t size, ibsa_event_fn report, void *arg,
				  struct ibsa_device_watch **out) IBSA_MUST_USE;

/**
 * ibsa_device_watch_start - receive the events that the SA reports
 * @client:   registered
 * @device:   the device
 * @port_num: number of the port that subscribes, from 1
 * @options:  as for ibsa_event_watch_start(); copied; NULL: all defaults. If
 *            audit_ms is 0, the audit_ms with which @device was opened applies
 * @report:   called for each event, by the thread that dispatches @device;
 *            member watch of the event is NULL
 * @arg:      passed to @report unchanged
 * @out:      receives the handle, before @report is called; valid until
 *            @report has been called with IBSA_EVENT_ENDED; may be NULL
 *
 * The library maintains the subscriptions as for ibsa_event_watch_start().
 * Unregistering @client and closing @device end the watch; @report is then
 * still called with IBSA_EVENT_ENDED.
 *
 * Return: 0; -EINVAL @client is not registered, the device belongs to the
 * parent process, no @report, kinds has a bit that is not a kind of Report,
 * more GIDs than IBSA_EVENT_GIDS_MAX, or only one of gids and gid_count is set;
 * -ENODEV no such port, an Ethernet port without the address of an SA, or the
 * device is being closed; -EAGAIN the port was not used before, and is not
 * active or, in a fabric, has no cable (if it was used before, the library
 * waits for it); -EOPNOTSUPP another port of the device is open, and the device
 * (under ibsim or on a fabric with a virtual clock) supports only one port at a
 * time; -ENOMEM; or the error from opening the port. After an error @report
 * is not called. Later failures are the err of IBSA_EVENT_ENDED: -EBUSY another
 * client, of this or another program, receives the Reports of the port;
 * -EOPNOTSUPP ports of this type do not receive Reports; -EINVAL audit_nodes is
 * set, but kinds is not 0 and has neither GID_IN nor GID_OUT; -ECANCELED
 * ibsa_device_watch_stop() was called, or the device was closed, before the
 * watch began; or another error as in ibsa_event_watch_start(). Any thread and
 * any callback may call ibsa_device_watch_start().
 *
 * Source: IBA vol 1, 13.4.8.3 and 13.4.11.
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_device_watch_start(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	const struct ibsa_event_options *options, ibsa_event_fn report,
	void *arg, struct ibsa_device_watch **out)
{
	return ibsa_device_watch_start_sized(client, device, port_num, options,
					     sizeof(*options), report, arg,
					     out);
}

/**
 * ibsa_device_watch_stop - end a watch
 * @watch: from ibsa_device_watch_start(); may be NULL
 *
 * ibsa_device_watch_stop() does not wait: events may still be reported until
 * IBSA_EVENT_ENDED. The library reports IBSA_EVENT_ENDED later, without waiting
 * for the SA, with sequence and time_ns 0, and with err 0 or, if the watch had
 * not begun yet, -ECANCELED. If @watch is NULL, or has already ended, nothing
 * happens: handles are never reused. Any thread and any callback may call
 * ibsa_device_watch_stop().
 */
void ibsa_device_watch_stop(struct ibsa_device_watch *watch);

/* The bits of a join state, by their numbers; the kernel's spelling. */
enum {
	FULLMEMBER_JOIN,
	NONMEMBER_JOIN,
	SENDONLY_NONMEBER_JOIN,
	SENDONLY_FULLMEMBER_JOIN,
	NUM_JOIN_MEMBERSHIP_TYPES,
};

/**
 * struct ib_sa_multicast - a membership in a multicast group
 * @rec:       until the first callback with status 0, the record that the
 *             program passed; then the record that the SA returned, with the
 *             join states of this membership, also after the membership was
 *             lost
 * @comp_mask: the @comp_mask of ib_sa_join_multicast(), network byte order
 * @callback:  the callback of ib_sa_join_multicast()
 * @context:   the argument of ib_sa_join_multicast()
 */
struct ib_sa_multicast {
	struct ib_sa_mcmember_rec rec;
	ib_sa_comp_mask comp_mask;
	int (*callback)(int status, struct ib_sa_multicast *multicast);
	void *context;
};

/**
 * ib_sa_join_multicast - join a multicast group, and create it if necessary
 * @client:    registered; unregistering it frees its memberships
 * @device:    the device
 * @port_num:  number of the port that joins, from 1
 * @rec:       the group and the join states, network byte order; copied. If its
 *             mgid is 0, the SA chooses the MGID of a new group
 * @comp_mask: the members of @rec that are set; the SA requires MGID, PORT_GID
 *             and JOIN_STATE, and more to create a group
 * @gfp_mask:  ignored
 * @callback:  called when the join has ended, possibly before
 *             ib_sa_join_multicast() returns, and once more if the membership
 *             is lost later. If the callback returns a value other than 0, the
 *             library ends and frees the membership; otherwise the program must
 *             call ib_sa_free_multicast(), whatever the status was
 * @context:   stored in the member context of the membership, where @callback
 *             can read it
 *
 * The SA has one membership for each port and group. All memberships of a
 * process in one group, at one port and through one struct ib_device, share
 * this membership at the SA: the library joins the group with a join state when
 * the first membership needs that state, and leaves with that state when the
 * last membership with it is freed. The library does not see memberships of
 * other processes and of the kernel (IPoIB): when the library leaves, the SA
 * removes that join state of the port for the other processes and the kernel,
 * too. If the port has already joined through @device with all join states in
 * @rec, no request is sent. Before a join succeeds, with or without a request,
 * the library compares the members in @comp_mask with the record of the group.
 * The library compares mtu, rate and packet_life_time only if @comp_mask also
 * has their selectors, and never compares join_state and proxy_join. A group
 * has at most one request to join or leave in flight; a join waits until the
 * requests of earlier joins for the group have ended.
 *
 * The status of @callback: 0; -EINVAL the SA refused, see ibsa_last_reply(), or
 * the record of the group differs from @rec; -ETIMEDOUT no reply within 3 s of
 * the request; -EAGAIN the port is down or has no SM, and no address of an SA
 * was given to ibsa_ib_device_open(); -EIO the reply is malformed or about
 * another group, or a retry could not be sent; -ENETRESET the membership was
 * lost; -EINTR the device was closed or disappeared; or the error of
 * ibsa_query_start() when it sent the first try.
 *
 * A membership is lost if the port went down or its LID changed, the SM asked
 * the port to register again, the group's P_Key is no longer at the index of
 * the port's P_Key table at which it was during the join, or the SA does not
 * have the membership any more. The library does not join again; the program
 * may join again, also in @callback. The library detects by events that the
 * port went down, that its LID changed, and that the SM asks the port to
 * register again. If the library receives no events of the port (see
 * ibsa_ib_device_open()), it reads the port every second, and detects only that
 * the port is down or that its LID changed. The library reads each membership
 * back every @audit_ms of struct ibsa_ib_device_options, and soon after the
 * port changed. When memberships are lost because the port changed, the library
 * calls their callbacks at once, or, for a group that has a request to join or
 * leave in flight, when this request has ended. A join that a program starts
 * after such a loss may be delayed, so that the SA does not receive all
 * requests at once: by up to half a second, or, with more than 100 groups, by
 * up to 5 ms multiplied by the number of groups, at most 10 s.
 *
 * Return: the membership, or an error, see ibsa_is_err(): -EINVAL @client is
 * not registered, the device belongs to the parent process, no @callback, a
 * join state of 0 in @rec, or a bit in @comp_mask that no IB_SA_MCMEMBER_REC_
 * constant has; -ENODEV no such port, an Ethernet port without the address of
 * an SA, or the device is being closed; -EAGAIN the port was not used before,
 * and is not active or, in a fabric, has no cable (if it was used before, see
 * above); -ENOBUFS the process has 1048576 memberships; -EOPNOTSUPP another
 * port of the device is open, and the device (ibsim, or on a fabric with a
 * virtual clock) supports only one at a time; -ENOMEM; or the error from
 * opening the port. After an error @callback is not called. Any thread and any
 * callback may call ib_sa_join_multicast().
 *
 * Source: Linux drivers/infiniband/core/multicast.c; IBA vol 1, 15.2.5.17.
 */
struct ib_sa_multicast *ib_sa_join_multicast(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	struct ib_sa_mcmember_rec *rec, ib_sa_comp_mask comp_mask,
	unsigned int gfp_mask,
	int (*callback)(int status, struct ib_sa_multicast *multicast),
	void *context);

/**
 * ib_sa_free_multicast - end a membership, also while its join is in progress
 * @multicast: from ib_sa_join_multicast(); NULL: nothing happens. If the
 *             callback of @multicast returned a value other than 0, or the
 *             client of @multicast was unregistered, @multicast is already
 *             freed and must not be passed
 *
 * If a callback of @multicast is running, waits until it has returned. Inside
 * any callback, ib_sa_free_multicast() does not wait: the library frees
 * @multicast when the running callback of @multicast has returned. When
 * ib_sa_free_multicast() has returned, the callback of @multicast is not called
 * any more. ib_sa_free_multicast() does not wait for the SA: if a request to
 * leave the group is needed, the library sends the request later. If the SA
 * does not reply to the request to leave within 3 seconds, the library repeats
 * the request, up to three times. ibsa_ib_device_put() ends memberships without
 * freeing them: it sends a leave request for each group as far as the port has
 * room to send at once, does not leave any further groups, and calls the
 * callbacks with -EINTR. Any thread and any callback may call
 * ib_sa_free_multicast().
 */
void ib_sa_free_multicast(struct ib_sa_multicast *multicast);

/**
 * ib_sa_get_mcmember_rec - the record of a group that the port has joined
 * @device:   the device through which the port joined
 * @port_num: number of the port, from 1
 * @mgid:     GID of the group
 * @rec:      receives the record as the SA returned it, network byte order; its
 *            join_state has all join states that the port joined through
 *            @device
 *
 * Return: 0; -EADDRNOTAVAIL the port has not joined the group through @device,
 * or has lost the membership; -EINVAL the device belongs to the parent process.
 * After an error @rec is unchanged. Any thread and any callback may call
 * ib_sa_get_mcmember_rec().
 */
int ib_sa_get_mcmember_rec(struct ib_device *device, uint8_t port_num,
			   union ib_gid *mgid, struct ib_sa_mcmember_rec *rec);

/**
 * opa_pr_query_possible - which form of path query the fabric manager supports
 * @client:   ignored; may be NULL
 * @device:   the device
 * @port_num: number of the port that queries, from 1
 * @rec:      ignored; may be NULL
 *
 * The ClassPortInfo of the SA tells whether the SA supports OPA path records.
 * The library reads ClassPortInfo when it opens an Omni-Path port, and again
 * one second after one of these events: the port became active, its LID or its
 * SM changed, or the SM asked the port to register again.
 * opa_pr_query_possible() waits for the first read after the opening of the
 * port, but not for the reads after a failure or an event; inside a callback,
 * opa_pr_query_possible() waits only if it opens the port itself. Before the
 * first reply, and after each of these events until the next reply, the library
 * assumes InfiniBand records only.
 *
 * Return: PR_OPA_SUPPORTED OPA path records are supported; PR_NOT_SUPPORTED the
 * device belongs to the parent process; the port cannot be opened for a reason
 * other than that it is down; or OPA path records are not known to be
 * supported, and the LID of the port is 0xC000 or above, which an InfiniBand
 * record cannot contain as a unicast LID; PR_IB_SUPPORTED otherwise, also for a
 * port that is not Omni-Path. Any thread and any callback may call
 * opa_pr_query_possible().
 *
 * Source: Linux drivers/infiniband/core/sa_query.c.
 */
int opa_pr_query_possible(struct ib_sa_client *client, struct ib_device *device,
			  uint8_t port_num, struct sa_path_rec *rec);

/**
 * ib_sa_cancel_query - cancel a query
 * @id:    the identifier that the query function returned; if negative, nothing
 *         happens
 * @query: the pointer that the query function stored at its @sa_query; if NULL,
 *         nothing happens
 *
 * Does not wait. The callback still runs exactly once: with -EINTR or, if the
 * query had ended before, with the result of the query. If the callback has
 * already run, nothing happens: no two queries of a process have the same pair
 * of @id and @query. Any thread and any callback may call ib_sa_cancel_query().
 */
void ib_sa_cancel_query(int id, struct ib_sa_query *query);

/**
 * ib_sa_pack_path - encode a path record as in a MAD
 * @rec:       in network byte order; its type is ignored: the LIDs are always
 *             those of rec->ib
 * @attribute: receives 64 bytes
 *
 * A value that is wider than its field loses its high bits. Any thread may call
 * ib_sa_pack_path().
 */
void ib_sa_pack_path(struct sa_path_rec *rec, void *attribute);

/**
 * ib_sa_unpack_path - decode a path record of a MAD
 * @attribute: 64 bytes
 * @rec:       receives the record, of type IB, in network byte order; members
 *             that an InfiniBand record does not have are 0
 *
 * Any thread may call ib_sa_unpack_path().
 */
void ib_sa_unpack_path(void *attribute, struct sa_path_rec *rec);

/**
 * rdma_get_gid_attr - read one entry of a port's GID table
 * @device:   the device; must stay open while the device of the entry is used
 * @port_num: number of the port, from 1
 * @index:    index in the table, from 0
 *
 * The entry is a copy: it does not change when the table changes.
 *
 * Return: the entry with one reference, which rdma_put_gid_attr() removes; or
 * an error, see ibsa_is_err(): -EINVAL no such port, the state of the port
 * cannot be read, the table has no entry @index, or the device belongs to the
 * parent process; -ENODATA the entry is empty, or reading the entry failed;
 * -ENOMEM. Any thread may call rdma_get_gid_attr().
 *
 * Source: Linux drivers/infiniband/core/cache.c.
 */
const struct ib_gid_attr *rdma_get_gid_attr(struct ib_device *device,
					    uint32_t port_num, int index);

/**
 * rdma_find_gid_by_port - read the entry of a port's GID table that has a GID
 * @device:       the device; must stay open while the device of the entry is
 *                used
 * @gid:          network byte order
 * @gid_type:     type of the entry
 * @port_num:     number of the port, from 1
 * @ndev_ifindex: index of the network interface of the entry, as from
 *                if_nametoindex(3); 0: any
 *
 * Return: the first such entry with one reference, which rdma_put_gid_attr()
 * removes; or an error, see ibsa_is_err(): -ENOENT no such entry or port, or
 * the table cannot be read; -EINVAL the device belongs to the parent process;
 * -ENOMEM. Any thread may call rdma_find_gid_by_port().
 *
 * Source: Linux drivers/infiniband/core/cache.c.
 */
const struct ib_gid_attr *rdma_find_gid_by_port(struct ib_device *device,
						const union ib_gid *gid,
						enum ib_gid_type gid_type,
						uint32_t port_num,
						uint32_t ndev_ifindex);

/**
 * rdma_hold_gid_attr - add a reference to an entry
 * @attr: an entry to which the caller has a reference
 *
 * Any thread may call rdma_hold_gid_attr().
 */
void rdma_hold_gid_attr(const struct ib_gid_attr *attr);

/**
 * rdma_put_gid_attr - remove a reference to an entry
 * @attr: an entry to which the caller has a reference. When the last reference
 *        is removed, the entry is freed
 *
 * Any thread may call rdma_put_gid_attr().
 */
void rdma_put_gid_attr(const struct ib_gid_attr *attr);

/**
 * ib_init_ah_attr_from_path - make address handle attributes from a path record
 * @device:   the device
 * @port_num: number of the port that sends, from 1
 * @rec:      the path, network byte order. A RoCE path must have the MAC
 *            address of the destination; the function sets route_resolved of
 *            the path when it has found a route
 * @ah_attr:  receives the attributes (struct rdma_ah_attr of the kernel), host
 *            byte order; call rdma_destroy_ah_attr() after use
 * @gid_attr: source GID of the GRH, not compared with @rec; if @ah_attr gets a
 *            GRH, the function adds its own reference. NULL: if @ah_attr gets a
 *            GRH, look up the source GID of @rec in the port's table
 *
 * The type of @ah_attr is the link layer of the port. @ah_attr has a GRH if the
 * hop limit of @rec is above 0 or @rec is a RoCE path, whether the port
 * requires a GRH or not. The source path bits are the low bits of the source
 * LID, as many bits as the LMC; seven bits while the port has no SM or its
 * state cannot be read. For a RoCE path without route_resolved, the function
 * looks up a route in the caller's network namespace, through the interface of
 * @gid_attr; it does not look up the MAC address.
 *
 * Return: 0; -ENODEV no such port; -ENOENT the source GID is not in the port's
 * table, or the table cannot be read; -EINVAL the device belongs to the parent
 * process; or a route must be looked up, and one of these is true: @gid_attr is
 * NULL or has no interface, only one of source and destination GID is an IPv4
 * address, or the route leads through a gateway and @rec is not RoCE v2;
 * -ELIBACC libnl-3 is needed for a route and cannot be loaded; -ENOMEM; the
 * error from looking up the route; or the error from reading or opening the
 * port. After an error @ah_attr may be partly filled, but holds no reference.
 * Any thread may call ib_init_ah_attr_from_path(), which may sleep.
 *
 * Source: Linux drivers/infiniband/core/sa_query.c, addr.c.
 */
int ib_init_ah_attr_from_path(struct ib_device *device, uint8_t port_num,
			      struct sa_path_rec *rec,
			      struct rdma_ah_attr *ah_attr,
			      const struct ib_gid_attr *gid_attr);

/**
 * ibsa_init_ah_attr_from_path - like ib_init_ah_attr_from_path(), but always
 * with a GRH if the port requires a GRH
 *
 * The arguments are those of ib_init_ah_attr_from_path(). If the port requires
 * a GRH, the attributes have a GRH with a hop limit of at least 1 for any path,
 * because ibv_create_ah() fails without a GRH on such a port.
 *
 * With access.grh of struct ibsa_ib_device_options, the program decides: for
 * IBSA_GRH_ALWAYS the port requires a GRH, for IBSA_GRH_NEVER it does not. With
 * the default, IBSA_GRH_AUTO, a RoCE port requires a GRH. Another port requires
 * a GRH if the kernel reports this; the library reads this report only if
 * ibsa_ib_device_open() was given a verbs context, and only after a query or
 * another function has opened the port.
 *
 * Return: as ib_init_ah_attr_from_path(). Any thread may call
 * ibsa_init_ah_attr_from_path(), which may sleep.
 */
int ibsa_init_ah_attr_from_path(struct ib_device *device, uint8_t port_num,
				struct sa_path_rec *rec,
				struct rdma_ah_attr *ah_attr,
				const struct ib_gid_attr *gid_attr);

/**
 * rdma_destroy_ah_attr - release the reference to the source GID
 * @ah_attr: filled by ib_init_ah_attr_from_path() or
 *           ibsa_init_ah_attr_from_path()
 *
 * After one of the two functions has returned an error, @ah_attr holds no
 * reference: rdma_destroy_ah_attr() is then not needed, but does no harm. A
 * second call for the same @ah_attr does no harm, either. Any thread may call
 * rdma_destroy_ah_attr().
 */
void rdma_destroy_ah_attr(struct rdma_ah_attr *ah_attr);

/**
 * ibsa_ah_attr_to_ibv - convert address handle attributes for ibv_create_ah()
 * @ah_attr: of ib_init_ah_attr_from_path() or ibsa_init_ah_attr_from_path()
 * @out:     receives the attributes for libibverbs, without the MAC address of
 *           a RoCE destination: libibverbs derives it from the GID
 *
 * Return: 0; -EINVAL the type of @ah_attr is not RDMA_AH_ATTR_TYPE_IB, _ROCE or
 * _OPA; -ERANGE the DLID has more than 16 bits, opa.make_grd is set (the DLID
 * is 0xffff, an ordinary LID on Omni-Path), or the port number has more than 8
 * bits. After an error @out is unchanged. Any thread may call
 * ibsa_ah_attr_to_ibv().
 */
int ibsa_ah_attr_to_ibv(const struct rdma_ah_attr *ah_attr,
			struct ibv_ah_attr *out) IBSA_MUST_USE;

IBSA_END

#endif
