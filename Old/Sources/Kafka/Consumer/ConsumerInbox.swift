import Synchronization

/// What the application asks of the owner thread.
///
/// Every command is awaited by its caller or answers one revocation, so the number of callers bounds the queue.
enum ConsumerCommand: Sendable {
    /// Offsets of partitions that are named in `epochs` are for that assignment only.
    case store([KafkaPartition: Int64], epochs: [KafkaPartition: UInt64], Reply<[KafkaPartition]>)
    case commit(Reply<Void>)
    /// `nil` for all there are and all that come.
    case pause([KafkaPartition]?, Reply<Void>)
    case resume([KafkaPartition]?, Reply<Void>)
    case completeRevocation(id: UInt64, offsets: [KafkaPartition: Int64])
    case close(deadline: ContinuousClock.Instant, Reply<Void>?)

    /// Answers a command that will not be carried out.
    func refuse(_ error: KafkaError) {
        switch self {
        case .store(_, _, let reply): reply(.failure(error))
        case .commit(let reply), .pause(_, let reply), .resume(_, let reply): reply(.failure(error))
        case .completeRevocation: break
        case .close(_, let reply): reply?(.success(()))
        }
    }
}

/// Resumes the caller that waits for a command; called exactly once.
typealias Reply<Value: Sendable> = @Sendable (Result<Value, KafkaError>) -> Void

/// Where callers leave commands and demand, and the owner thread finds them.
final class ConsumerInbox: Sendable {
    /// One waiting call of `next`.
    struct Demand: Sendable {
        let id: UInt64
        let maxRecords: Int
        let maxBytes: Int
        let reply: Reply<KafkaConsumerEvent?>
    }

    private struct State {
        var commands: [ConsumerCommand] = []
        var demand: Demand?
        /// Set at the end: what `next` answers from then on.
        var conclusion: Result<KafkaConsumerEvent?, KafkaError>?
        /// The owner thread has gone; nobody takes commands any more.
        var isAbandoned = false
    }

    private let state = Mutex(State())
    private let nextID = Atomic<UInt64>(0)
    private let wake: EventDescriptor

    init(wake: EventDescriptor) { self.wake = wake }

    func makeDemandID() -> UInt64 { nextID.wrappingAdd(1, ordering: .relaxed).newValue }

    // MARK: Callers

    func submit(_ command: ConsumerCommand) {
        let accepted = state.withLock { state in
            guard !state.isAbandoned else { return false }
            state.commands.append(command)
            return true
        }
        accepted ? wake.signal() : command.refuse(.closed)
    }

    func submit<Value: Sendable>(_ command: (@escaping Reply<Value>) -> ConsumerCommand) async throws(KafkaError)
        -> Value
    {
        let result: Result<Value, KafkaError> = await withCheckedContinuation { continuation in
            submit(command { continuation.resume(returning: $0) })
        }
        return try result.get()
    }

    func wait(_ demand: Demand) {
        // Cancellation is asked under the lock, which `cancelDemand` takes after the task was marked: either this sees
        // the mark or `cancelDemand` sees the demand.
        let refusal: Result<KafkaConsumerEvent?, KafkaError>? = state.withLock { state in
            if let conclusion = state.conclusion { return conclusion }
            if Task.isCancelled { return .failure(.cancelled) }
            guard state.demand == nil else { return .failure(.concurrentNext) }
            state.demand = demand
            return nil
        }
        if let refusal { demand.reply(refusal) } else { wake.signal() }
    }

    func cancelDemand(_ id: UInt64) { answer(id, .failure(.cancelled)) }

    // MARK: Owner thread

    func takeCommands() -> [ConsumerCommand] {
        state.withLock { state in
            defer { state.commands.removeAll(keepingCapacity: true) }
            return state.commands
        }
    }

    var demand: Demand? { state.withLock { $0.demand } }

    /// Answers the demand unless it is no longer waiting.
    /// - Returns: whether the answer reached somebody.
    @discardableResult
    func answer(_ id: UInt64, _ result: Result<KafkaConsumerEvent?, KafkaError>) -> Bool {
        let demand: Demand? = state.withLock { state in
            guard state.demand?.id == id else { return nil }
            defer { state.demand = nil }
            return state.demand
        }
        demand?.reply(result)
        return demand != nil
    }

    /// From now on every `next` is answered with `result`; the first conclusion stays.
    func conclude(_ result: Result<KafkaConsumerEvent?, KafkaError>) {
        let demand: Demand? = state.withLock { state in
            guard state.conclusion == nil else { return nil }
            state.conclusion = result
            defer { state.demand = nil }
            return state.demand
        }
        demand?.reply(result)
    }

    /// Refuses what is left and all that comes.
    func abandon() {
        let commands = state.withLock { state in
            state.isAbandoned = true
            defer { state.commands = [] }
            return state.commands
        }
        for command in commands { command.refuse(.closed) }
    }
}
