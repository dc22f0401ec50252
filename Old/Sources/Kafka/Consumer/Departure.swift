/// When a member that closes asks to leave its group, and when it goes without an answer. Pure: events in, steps out.
///
/// librdkafka leaves as a member only. A client that closes between its request to join and the group's answer says nothing,
/// the group takes it in all the same, and gives it partitions that nobody reads until its session ends. So one that is
/// joining waits to be let in first.
struct Departure {
    typealias Instant = ContinuousClock.Instant

    enum Step: Equatable {
        case wait
        /// Ask to leave; comes once.
        case leave
        /// It is over, well or not.
        case end
    }

    private enum State {
        /// Goes to `leaving` once the group has let it in, when ``joinLimit`` is over, or when there is just time left to leave.
        case joining(until: Instant)
        /// Goes to `ended` once it has left, or at the deadline.
        case leaving(until: Instant)
        case ended
    }

    /// How long it waits to be let in, at most. A group is divided within seconds, and one that is never divided, because the topic
    /// is missing or may not be read, is not to hold up a stop for minutes.
    static let joinLimit = Duration.seconds(15)
    /// What is kept of the time for leaving while the group lets nobody in.
    static let reserve = Duration.seconds(1)
    /// How long the group may take to answer that it was left.
    static let leaveLimit = Duration.seconds(5)

    /// When all of it has to be over.
    let deadline: Instant
    private var state: State

    /// - Parameter isJoining: whether the group was asked to let this client in and may not have answered yet.
    init(isJoining: Bool, deadline: Instant, now: Instant) {
        self.deadline = deadline
        state = .joining(until: isJoining ? max(now, min(deadline - Self.reserve, now + Self.joinLimit)) : now)
    }

    /// Whether the group is still to let it in.
    var isJoining: Bool { if case .joining = state { true } else { false } }

    /// When ``next(isMember:hasLeft:now:)`` is to be asked, whatever happens.
    var nextLook: Instant? {
        switch state {
        case .joining(let until), .leaving(let until): until
        case .ended: nil
        }
    }

    /// What to do now.
    mutating func next(isMember: Bool, hasLeft: Bool, now: Instant) -> Step {
        switch state {
        case .joining(let until):
            guard isMember || now >= until else { return .wait }
            state = .leaving(until: min(deadline, now + Self.leaveLimit))
            return .leave
        case .leaving(let until):
            guard hasLeft || now >= until else { return .wait }
            state = .ended
            return .end
        case .ended: return .end
        }
    }

    /// Leaving is not possible: nothing more is waited for.
    mutating func giveUp() { state = .ended }
}
