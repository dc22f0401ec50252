internal import CLinux
internal import Glibc
internal import Synchronization

/// A thread that owns something: a C library's handle, an event loop, a state machine.
///
/// Debuggers and `top -H` show its name. It blocks the signals that are sent to a process, so that none interrupts its
/// calls. A write to a socket that the other side closed then fails with EPIPE and does not end the process. Threads
/// that it starts, also those of C libraries, inherit this mask.
public final class OwnerThread: Sendable {
    /// Bytes of address space for a stack; the kernel provides memory only as it is used.
    public static let defaultStackSize = 4 << 20

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private let thread: Mutex<pthread_t?>

    /// Starts a thread that runs a body and ends with it.
    /// - Parameters:
    ///   - name: the first 15 bytes are shown.
    ///   - stackSize: in bytes; rounded up to the system's unit.
    ///   - body: state that is not Sendable is made in here and never leaves.
    /// - Throws: ``ThreadingError/noThread(errno:)``; then the body never runs.
    public init(
        name: String, stackSize: Int = OwnerThread.defaultStackSize, body: @escaping @Sendable () -> Void
    ) throws(ThreadingError) {
        var attributes = pthread_attr_t()
        var result = pthread_attr_init(&attributes)
        guard result == 0 else { throw .noThread(errno: result) }
        defer { pthread_attr_destroy(&attributes) }
        result = pthread_attr_setstacksize(&attributes, Self.wholePages(stackSize))
        guard result == 0 else { throw .noThread(errno: result) }

        // A new thread inherits the mask, so there is no moment at which it takes signals.
        var before = sigset_t()
        var blocked = Self.blockedSignals
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        // Retained across the C boundary; the thread releases it, or this function if there is none.
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        result = pthread_create(
            &thread, &attributes,
            { context in
                guard let context else { return nil }
                let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                grantor_name_thread(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        guard result == 0 else {
            start.release()
            throw .noThread(errno: result)
        }
        self.thread = Mutex(thread)
    }

    deinit {
        // Nobody can join it any more: its resources are freed when its body ends.
        thread.withLock { if let thread = $0 { pthread_detach(thread) } }
    }

    /// Waits until the body has ended. Any thread but this one may call it, several times and at once.
    public func join() {
        thread.withLock { thread in
            guard let running = thread else { return }
            pthread_join(running, nil)
            thread = nil
        }
    }

    /// Every signal but those that a thread raises by its own fault, which have to reach the crash handler.
    private static var blockedSignals: sigset_t {
        var signals = sigset_t()
        sigfillset(&signals)
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&signals, fault) }
        return signals
    }

    private static func wholePages(_ bytes: Int) -> Int {
        let page = sysconf(Int32(_SC_PAGESIZE))
        let smallest = 64 << 10
        return (max(bytes, smallest) + page - 1) / page * page
    }
}
