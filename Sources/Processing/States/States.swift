import Scheduling

/// The states of one of the core's machines, and the ways between them.
protocol MachineState {
    /// As the documentation and the counts name it. Where a state has values, it is without them.
    associatedtype Name: RawRepresentable<Int> & CaseIterable & Hashable & Sendable

    /// The machine, as the documentation names it.
    static var machine: Machine { get }

    /// Every state that may follow each one. A change to another one is a mistake of the core's.
    static var successors: [Name: Set<Name>] { get }
    var name: Name { get }
}

/// The state of a submission in flight, which changes in `Submissions.move` alone.
///
/// A submission whose partition is gone leaves from every state at once, with three exceptions. A call under way is
/// awaited, because the gate counts it (`asking`). The events of a batch under way are published (`writing`). Events
/// that the producer has are awaited (`publishing`).
enum FlightState: Int, Sendable, CaseIterable, MachineState {
    /// No submission: before its first state, and after its end.
    case vacant
    /// The ledger is asked for known outcomes of its batch, because it may be a redelivery.
    case loading
    /// The ledger is asked to write its mark, because its partition or its row has ended workers.
    case marking
    /// A checker has it.
    case checking
    /// The ledger is asked whether the purchase was granted before.
    case lookingUp
    /// It waits for its endpoint's gate.
    case waiting
    /// Apple has the question.
    case asking
    /// A checker verifies the signatures in Apple's reply.
    case verifying
    /// The pause before its next attempt.
    case repeating
    /// The pause before its evidence, which was signed ahead of our clock, is checked again.
    case rechecking
    /// The pause before its decision is written again.
    case rewriting
    /// It waits for room in `retries`.
    case awaitingRoom
    /// Its decision waits for a batch, or is in one.
    case writing
    /// The broker has its events.
    case publishing
    /// The outbox is to take an event.
    case owing

    static let successors: [FlightState: Set<FlightState>] = [
        .vacant: [.loading, .marking, .checking, .writing],
        .loading: [.checking, .vacant],
        .marking: [.loading, .checking, .verifying, .vacant],
        .checking: [
            .lookingUp, .waiting, .rechecking, .awaitingRoom, .writing, .publishing, .vacant,
        ],
        .lookingUp: [.waiting, .writing, .vacant],
        .waiting: [.asking, .checking, .marking, .awaitingRoom, .writing, .vacant],
        .asking: [.waiting, .verifying, .checking, .marking, .repeating, .awaitingRoom, .writing, .vacant],
        .verifying: [.waiting, .checking, .repeating, .awaitingRoom, .writing, .vacant],
        .repeating: [.waiting, .vacant],
        .rechecking: [.checking, .marking, .vacant],
        .rewriting: [.writing, .vacant],
        .awaitingRoom: [.awaitingRoom, .checking, .writing, .vacant],
        .writing: [.writing, .rewriting, .waiting, .checking, .marking, .awaitingRoom, .publishing, .vacant],
        .publishing: [.owing, .vacant],
        .owing: [.owing, .vacant],
    ]

    static var machine: Machine { .submission }
    var name: FlightState { self }
}

extension FlightState {
    /// Whether a submission in this state waits for a moment, and for nothing else.
    var isPause: Bool {
        switch self {
        case .repeating, .rechecking, .rewriting, .awaitingRoom: true
        case .vacant, .loading, .marking, .checking, .lookingUp, .waiting, .asking, .verifying, .writing, .publishing,
            .owing:
            false
        }
    }

    /// Whether a stop loses no work for a submission in this state.
    var isUnstarted: Bool {
        switch self {
        case .loading, .marking, .lookingUp, .waiting, .repeating, .rechecking, .rewriting, .awaitingRoom: true
        case .vacant, .checking, .asking, .verifying, .writing, .publishing, .owing: false
        }
    }

    /// Whether a submission in this state waits for Apple, or may have to.
    var isUndecided: Bool {
        switch self {
        case .vacant, .writing, .publishing, .owing: false
        case .loading, .marking, .checking, .lookingUp, .waiting, .asking, .verifying, .repeating, .rechecking,
            .rewriting, .awaitingRoom:
            true
        }
    }

    /// Whether a submission in this state waits for a call, or for the end or the repetition of one.
    var isAtGate: Bool { self == .waiting || self == .asking || isPause }

    /// Whether a marked submission in this state has not passed its check yet.
    var isInCheck: Bool {
        switch self {
        case .marking, .loading, .checking, .verifying: true
        case .vacant, .lookingUp, .waiting, .asking, .repeating, .rechecking, .rewriting, .awaitingRoom, .writing,
            .publishing, .owing:
            false
        }
    }

    /// Whether a checker has it.
    var isAtChecker: Bool { self == .checking || self == .verifying }
}

/// This worker's state with one partition. The group can take a partition away in every state.
enum PartitionState: Hashable, Sendable, MachineState {
    /// There is none.
    case vacant
    /// The group is asked for its committed offset.
    case fetching
    /// The ledger is to take it over.
    case taking(isUnderWay: Bool)
    /// It is read.
    case owned
    /// Another worker has taken it, and the group says so by the end of the pause, or it is tried again. Or the group's
    /// offset is being put behind what an operator passed.
    case pausing(until: Instant)

    enum Name: Int, CaseIterable {
        case vacant, fetching, taking, owned, pausing
    }

    static let successors: [Name: Set<Name>] = [
        .vacant: [.fetching],
        .fetching: [.taking, .vacant],
        .taking: [.taking, .owned, .vacant],
        .owned: [.fetching, .pausing, .vacant],
        .pausing: [.fetching, .vacant],
    ]

    static var machine: Machine { .partition }

    var name: Name {
        switch self {
        case .vacant: .vacant
        case .fetching: .fetching
        case .taking: .taking
        case .owned: .owned
        case .pausing: .pausing
        }
    }
}

/// The state of a row of the outbox that this worker works on.
enum OutboxFlightState: Sendable, MachineState {
    /// It has its lease, and nothing is under way.
    case taken
    /// Its fulfilment call is under way, through a gate.
    case calling(gate: Int, EndpointGate.Pass)
    /// The broker has its event.
    case publishing
    /// It is reported, or given back.
    case ended

    enum Name: Int, CaseIterable {
        case taken, calling, publishing, ended
    }

    static let successors: [Name: Set<Name>] = [
        .taken: [.calling, .publishing, .ended],
        .calling: [.ended],
        .publishing: [.ended],
        .ended: [],
    ]

    static var machine: Machine { .outboxRow }

    var name: Name {
        switch self {
        case .taken: .taken
        case .calling: .calling
        case .publishing: .publishing
        case .ended: .ended
        }
    }
}
