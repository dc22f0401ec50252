import HTTPServer
import SimulatorServer
import Threading

/// Everything that a server told of, and a way to wait for more of it.
final class EventLog {
    private let mailbox: Mailbox<ServerEvent>
    private var events: [ServerEvent] = []

    init() throws {
        mailbox = try Mailbox(bound: 1 << 20)
    }

    /// For a configuration.
    var observe: @Sendable (ServerEvent) -> Void { { [mailbox] in mailbox.post($0) } }

    /// Waits until something has happened so many times.
    func wait(for event: ServerEvent, count: Int = 1) {
        while self.count(event) < count { mailbox.wake.wait() }
    }

    /// How many times something has happened so far.
    func count(_ event: ServerEvent) -> Int {
        var more: [ServerEvent] = []
        mailbox.takeAll(into: &more)
        events += more
        return events.count { $0 == event }
    }
}
