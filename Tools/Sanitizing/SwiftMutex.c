// Tells ThreadSanitizer of Swift's Mutex, loaded before Swift's libraries.
//
// The fast paths of Mutex are compiled into its users and so are seen. The slow ones, which a thread that has to wait takes, are
// in libswiftSynchronization, which nothing instruments: without this, every mutex that two threads wanted at once is reported.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// From the sanitizer's runtime, which is in the program; absent in a program without it.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void (*Lock)(uint32_t thread, SELF);
typedef __attribute__((swiftcall)) bool (*TryLock)(SELF);
typedef __attribute__((swiftcall)) void (*Unlock)(SELF);

static Lock lock;
static TryLock try_lock;
static Unlock unlock;

__attribute__((constructor)) static void find(void) {
    lock = (Lock)dlsym(RTLD_NEXT, LOCK);
    try_lock = (TryLock)dlsym(RTLD_NEXT, TRY_LOCK);
    unlock = (Unlock)dlsym(RTLD_NEXT, UNLOCK);
}

__attribute__((swiftcall)) void sanitized_lock(uint32_t thread, SELF) __asm__(LOCK);
__attribute__((swiftcall)) bool sanitized_try_lock(SELF) __asm__(TRY_LOCK);
__attribute__((swiftcall)) void sanitized_unlock(SELF) __asm__(UNLOCK);

__attribute__((swiftcall)) void sanitized_lock(uint32_t thread, SELF) {
    lock(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

__attribute__((swiftcall)) bool sanitized_try_lock(SELF) {
    bool is_locked = try_lock(self);
    if (is_locked && __tsan_acquire) __tsan_acquire(self);
    return is_locked;
}

__attribute__((swiftcall)) void sanitized_unlock(SELF) {
    if (__tsan_release) __tsan_release(self);
    unlock(self);
}
