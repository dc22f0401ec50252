internal import Scheduling

/// Decides when a stopping member asks to leave its group, and when it leaves without a reply. Pure.
///
/// librdkafka leaves a group as a member only. A client that closes between its request to join and the group's reply
/// sends nothing. The group would still add it, and nobody would read its partitions until its session ends. So a
/// joining client waits to become a member first.
struct GroupLeaving {
    enum Step: Equatable {
        case wait
        /// Ask to leave; comes once.
        case leave
        /// It is over, well or not.
        case end
    }

    private enum State {
        /// Goes to `joining` when every commit has its reply or half of the time is over.
        case committing(until: Instant)
        /// Goes to `leaving` once the group has let it in, when ``joinLimit`` is over, or when the remaining time just
        /// suffices to leave.
        case joining(until: Instant)
        /// Goes to `ended` once it has left, or at the deadline.
        case leaving(until: Instant)
        case ended
    }

    /// Longest wait to become a member. A group rebalances within seconds. A group that never lets it in, because its
    /// topic is missing or unreadable, must not delay a stop for minutes.
    static let joinLimit = Duration.seconds(15)
    /// Time kept for leaving while the group lets nobody in.
    static let reserve = Duration.seconds(1)
    /// Longest wait for the reply that it was left.
    static let leaveLimit = Duration.seconds(5)

    let deadline: Instant
    private var state: State

    /// - Parameter deadline: when all of it has to be over.
    init(until deadline: Instant, now: Instant) {
        self.deadline = deadline
        state = .committing(until: now + max((deadline - now) / 2, .zero))
    }

    /// When ``next(hasCommitted:isJoining:hasLeft:now:)`` is to be asked, whatever happens.
    var nextLook: Instant? {
        switch state {
        case .committing(let until), .joining(let until), .leaving(let until): until
        case .ended: nil
        }
    }

    /// - Parameters:
    ///   - hasCommitted: no commit waits or is under way.
    ///   - isJoining: the group was asked to let this client in and has not replied yet.
    ///   - hasLeft: the group was left.
    mutating func next(hasCommitted: Bool, isJoining: Bool, hasLeft: Bool, now: Instant) -> Step {
        if case .committing(let until) = state {
            guard hasCommitted || now >= until else { return .wait }
            state = .joining(until: max(now, min(deadline - Self.reserve, now + Self.joinLimit)))
        }
        switch state {
        case .committing: return .wait
        case .joining(let until):
            guard !isJoining || now >= until else { return .wait }
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
