import Synchronization

/// What the application asks of the producer's owner thread. Every command is awaited by its caller, so the number of
/// callers bounds the queue.
enum ProducerCommand: Sendable {
    case send([KafkaProducerRecord], @Sendable ([KafkaDelivery]) -> Void)
    case warmUp([String], timeout: Duration, @Sendable (Result<Void, KafkaError>) -> Void)
    /// Makes librdkafka raise a fatal error, to show that the producer recovers.
    case failFatally(@Sendable () -> Void)
    case close(deadline: ContinuousClock.Instant, (@Sendable () -> Void)?)

    /// Answers a command that will not be carried out.
    func refuse() {
        switch self {
        case .send(let records, let reply):
            reply(records.map { _ in .failed(.closed, .notPersisted) })
        case .warmUp(_, _, let reply): reply(.failure(.closed))
        case .failFatally(let reply): reply()
        case .close(_, let reply): reply?()
        }
    }
}

/// Where callers leave commands, and the owner thread finds them.
final class ProducerInbox: Sendable {
    private struct State {
        var commands: [ProducerCommand] = []
        var isAbandoned = false
    }

    private let state = Mutex(State())
    private let wake: EventDescriptor

    init(wake: EventDescriptor) { self.wake = wake }

    func submit(_ command: ProducerCommand) {
        let accepted = state.withLock { state in
            guard !state.isAbandoned else { return false }
            state.commands.append(command)
            return true
        }
        accepted ? wake.signal() : command.refuse()
    }

    func takeCommands() -> [ProducerCommand] {
        state.withLock { state in
            defer { state.commands.removeAll(keepingCapacity: true) }
            return state.commands
        }
    }

    /// Refuses what is left and all that comes.
    func abandon() {
        let commands = state.withLock { state in
            state.isAbandoned = true
            defer { state.commands = [] }
            return state.commands
        }
        for command in commands { command.refuse() }
    }
}
