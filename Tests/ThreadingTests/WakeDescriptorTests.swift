import Glibc
import Scheduling
import Synchronization
import Testing

@testable import Threading

@Suite(.timeLimit(.minutes(5)))
struct WakeDescriptorTests {
    @Test("Any number of signals end one wait")
    func signals() throws {
        let wake = try WakeDescriptor()
        for _ in 0..<3 { wake.signal() }
        #expect(wake.wait())
        #expect(!wake.wait(until: .now))
    }

    @Test("A wait without a signal lasts until its deadline")
    func deadline() throws {
        let wake = try WakeDescriptor()
        // A busy machine only makes it longer.
        let deadline = Instant.now + .milliseconds(20)
        #expect(!wake.wait(until: deadline))
        #expect(Instant.now >= deadline)
    }

    @Test("A signal from another thread ends a wait")
    func otherThread() throws {
        let wake = try WakeDescriptor()
        let value = Atomic(0)
        let thread = try OwnerThread(name: "signaller") {
            value.store(1, ordering: .relaxed)
            wake.signal()
        }
        #expect(wake.wait(until: .distantFuture))
        #expect(value.load(ordering: .relaxed) == 1)
        thread.join()
    }

    @Test("The descriptor does not block and closes with its owner")
    func descriptor() throws {
        var wake: WakeDescriptor? = try WakeDescriptor()
        let descriptor = try #require(wake).descriptor
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        // Neither blocks, at whatever end of the counter.
        wake?.drain()
        var most = UInt64.max - 1
        #expect(write(descriptor, &most, 8) == 8)
        wake?.signal()
        #expect(wake?.wait() == true)
        wake = nil
    }
}
