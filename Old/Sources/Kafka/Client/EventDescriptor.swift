import CLibrdkafka
import Glibc

/// A Linux eventfd: any thread signals it, one thread sleeps on it.
///
/// librdkafka writes to it when one of the queues it is registered with stops being empty, and the Swift side when
/// there is a command, so that one descriptor wakes an owner thread for every reason there is.
final class EventDescriptor: Sendable {
    let rawValue: Int32

    init() throws(KafkaError) {
        rawValue = grantor_eventfd()
        guard rawValue >= 0 else { throw .resourcesExhausted("eventfd", errno: errno) }
    }

    deinit { close(rawValue) }

    func signal() {
        var one: UInt64 = 1
        // Fails only when the counter is at its maximum, and then a wake-up is already due.
        _ = write(rawValue, &one, MemoryLayout<UInt64>.size)
    }

    /// Sleeps until there is a signal or `timeout` is over, and takes the signal away.
    func wait(timeout: Duration) {
        var descriptor = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, timeout.pollMilliseconds) > 0 else { return }
        var counter: UInt64 = 0
        _ = read(rawValue, &counter, MemoryLayout<UInt64>.size)
    }
}

extension Duration {
    /// Whole milliseconds for a C timeout: rounded up, so that a loop never spins through the last fraction.
    var pollMilliseconds: Int32 {
        let milliseconds = self / .milliseconds(1)
        return Int32(min(max(milliseconds.rounded(.up), 0), Double(Int32.max)))
    }
}
