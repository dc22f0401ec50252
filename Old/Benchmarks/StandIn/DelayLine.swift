import NIOCore

/// Answers that wait, all for the same time, so that the first to come is the first to go: one timer serves all of them.
///
/// Lives on one event loop.
final class DelayLine {
    private struct Waiting {
        let deadline: NIODeadline
        let connection: StandInConnection
        let answer: ByteBuffer
    }

    private let delay: TimeAmount
    private var line = CircularBuffer<Waiting>(initialCapacity: 4096)

    init(delay: TimeAmount) {
        self.delay = delay
    }

    /// Has an answer sent when the time is over, or at once if there is no time to wait.
    func hold(_ answer: ByteBuffer, for connection: StandInConnection, on loop: any EventLoop) {
        guard delay > .zero else { return connection.send(answer) }
        line.append(Waiting(deadline: loop.now + delay, connection: connection, answer: answer))
        if line.count == 1 { schedule(on: loop) }
    }

    private func schedule(on loop: any EventLoop) {
        guard let first = line.first else { return }
        loop.assumeIsolated().scheduleTask(deadline: first.deadline) {
            let now = loop.now
            while let first = self.line.first, first.deadline <= now {
                self.line.removeFirst()
                first.connection.send(first.answer)
            }
            self.schedule(on: loop)
        }
    }
}
