import Synchronization

/// What the application asks of the producer's owner thread. Every command is awaited by its caller, who asks at
/// most twice to be let go, so the number of callers bounds the queue.
enum ProducerCommand: Sendable {
    case send([KafkaProducerRecord], id: UInt64, @Sendable ([KafkaDelivery]) -> Void)
    /// Answers a `send` with what is known.
    case giveUp(id: UInt64)
    case warmUp([String], timeout: Duration, @Sendable (Result<Void, KafkaError>) -> Void)
    /// Makes librdkafka raise a fatal error, to show that the producer recovers.
    case failFatally(@Sendable () -> Void)
    case close(deadline: ContinuousClock.Instant, (@Sendable () -> Void)?)

    /// Answers a command that will not be carried out.
    func refuse() {
        switch self {
        case .send(let records, _, let reply):
            reply(records.map { _ in .failed(.closed, .notPersisted) })
        // Its `send` was refused, too, or has its answer.
        case .giveUp: break
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
        var lastSend: UInt64 = 0
    }

    private let state = Mutex(State())
    private let wake: EventDescriptor

    init(wake: EventDescriptor) { self.wake = wake }

    /// A name for a `send` that no other has.
    func makeSendID() -> UInt64 {
        state.withLock { state in
            state.lastSend += 1
            return state.lastSend
        }
    }

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
