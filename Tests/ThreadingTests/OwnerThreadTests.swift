import Glibc
import Synchronization
import Testing

@testable import Threading

@Suite(.timeLimit(.minutes(5)))
struct OwnerThreadTests {
    @Test("A thread has its name, and joining waits for its end")
    func name() throws {
        let name = Mutex("")
        let thread = try OwnerThread(name: "a-name-of-more-than-fifteen-bytes") {
            let file = open("/proc/thread-self/comm", O_RDONLY)
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: 32)
            let count = read(file, &bytes, bytes.count)
            name.withLock { $0 = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self) }
        }
        thread.join()
        #expect(name.withLock { $0 } == "a-name-of-more-\n")
        thread.join()
    }

    @Test("Several threads may wait for one")
    func joins() throws {
        let wake = try WakeDescriptor()
        let ended = Atomic(0)
        let owner = try OwnerThread(name: "owner") { wake.wait() }
        let waiting = try (0..<3).map { _ in
            try OwnerThread(name: "waiting") {
                owner.join()
                ended.add(1, ordering: .relaxed)
            }
        }
        wake.signal()
        for thread in waiting { thread.join() }
        #expect(ended.load(ordering: .relaxed) == 3)
    }

    @Test("A thread that nobody joins runs to its end")
    func unjoined() throws {
        let wake = try WakeDescriptor()
        _ = try OwnerThread(name: "detached") { wake.signal() }
        #expect(wake.wait())
    }

    @Test("Signals to the process are not a thread's, its own faults are")
    func signals() throws {
        let blocked = Mutex<[Int32: Bool]>([:])
        let thread = try OwnerThread(name: "signals") {
            var signals = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &signals)
            for signal in [SIGTERM, SIGINT, SIGPIPE, SIGHUP, SIGSEGV, SIGILL, SIGABRT] {
                blocked.withLock { $0[signal] = sigismember(&signals, signal) == 1 }
            }
        }
        thread.join()
        #expect(
            blocked.withLock { $0 } == [
                SIGTERM: true, SIGINT: true, SIGPIPE: true, SIGHUP: true, SIGSEGV: false, SIGILL: false,
                SIGABRT: false,
            ])
    }

    @Test("The starting thread's own signals stay as they were")
    func ownSignals() throws {
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &before)
        try OwnerThread(name: "other") {}.join()
        var after = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &after)
        for signal in 1..<32 as Range<Int32> {
            #expect(sigismember(&before, signal) == sigismember(&after, signal))
        }
    }

    @Test("A stack is as large as asked")
    func stack() throws {
        /// Calls itself until so many bytes of stack are in use. Frames are large: a sanitizer allows for few of them.
        @Sendable func descend(bytes: Int, from start: UInt) -> Int {
            withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { frame in
                let used = Int(start) - Int(bitPattern: frame.baseAddress)
                return used < bytes ? descend(bytes: bytes, from: start) : used
            }
        }
        let deepest = Atomic(0)
        let thread = try OwnerThread(name: "stack", stackSize: 16 << 20) {
            var local: UInt8 = 0
            let start = withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
            deepest.store(descend(bytes: 15 << 20, from: start), ordering: .relaxed)
        }
        thread.join()
        #expect(deepest.load(ordering: .relaxed) >= 15 << 20)
        try OwnerThread(name: "smallest", stackSize: 0) {}.join()
    }

    @Test("A thread that cannot be had is an error, and its body is freed")
    func noThread() throws {
        final class Held: Sendable {}
        weak var weakHeld: Held?
        do {
            let held = Held()
            weakHeld = held
            #expect(throws: ThreadingError.self) {
                try OwnerThread(name: "huge", stackSize: 1 << 46) { _ = held }
            }
        }
        #expect(weakHeld == nil)
    }
}
