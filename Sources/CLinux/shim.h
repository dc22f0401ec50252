#ifndef GRANTOR_CLINUX_SHIM_H
#define GRANTOR_CLINUX_SHIM_H

// Swift's Glibc module leaves epoll, eventfd and prctl out.
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
// With a static standard library the names of sockets come from here, and not from Glibc.
#include <sys/socket.h>
#include <time.h>

// `struct epoll_event` is packed and holds a union; filling it in C keeps its layout out of Swift.
static inline int grantor_epoll_control(int poller, int operation, int descriptor, uint64_t data, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.u64 = data}};
    return epoll_ctl(poller, operation, descriptor, &event);
}

static inline uint64_t grantor_epoll_data(const struct epoll_event *event) { return event->data.u64; }

// Swift sees the flags of these calls as enumerations, which do not combine.
static inline int grantor_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

static inline int grantor_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

// poll(2) with nanoseconds. glibc declares it only under _GNU_SOURCE, which is not defined for Swift.
extern int ppoll(struct pollfd *entries, nfds_t count, const struct timespec *timeout, const sigset_t *signals);

// accept(2) that sets flags at once, so that no descriptor is inherited in between. It is hidden in the same way.
extern int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);

static inline int grantor_accept(int listener, struct sockaddr *address, socklen_t *length) {
    return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static inline int grantor_stream_socket(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

// The processors that a process may run on, hidden in the same way.
extern int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set);

// prctl is variadic, which Swift cannot call: names the calling thread for debuggers.
static inline void grantor_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

#endif
