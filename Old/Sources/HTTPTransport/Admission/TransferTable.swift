/// Names a transfer for as long as the transport lives; never used twice.
struct TransferID: Hashable, Sendable {
    let rawValue: UInt64
}

/// Decides which transfer runs, which waits, and who is answered; each ticket is handed out exactly once.
///
/// A pure state machine: it knows no thread, no continuation and no socket. Callers tell it what they want, the loop
/// tells it what ended, and both do what it returns. The sum of what is in it is bounded by `maxRunning`,
/// `maxWaiting` and the number of calls between ``announce()`` and ``submit(_:order:ticket:)``.
struct TransferTable<Order, Ticket> {
    private enum State {
        /// The caller is about to submit. -> `cancelledEarly`, `waiting`, `running`, gone.
        case announced
        /// Cancelled before it was submitted. -> gone, refused when it is.
        case cancelledEarly
        /// No slot is free. -> `running`, gone when cancelled or closed.
        case waiting(Order, Ticket)
        /// Has a slot. -> gone when it ends, `aborting` when cancelled or closed.
        case running(Ticket)
        /// Has a slot, but its ticket was handed out; the loop is to drop it. -> gone.
        case aborting
    }

    /// Why a transfer was not accepted.
    enum Refusal: Hashable {
        case cancelled
        case closed
        case tooManyWaiting
    }

    enum Submission {
        /// The table keeps the ticket. With `wake` the loop has new work and may be asleep.
        case accepted(wake: Bool)
        /// The ticket is the caller's again.
        case refused(Ticket, Refusal)
    }

    /// What the loop is to do now.
    struct Turn {
        /// One for each ended transfer, in their order; nil where the ticket was handed out before.
        var ended: [Ticket?] = []
        var starts: [(id: TransferID, order: Order)] = []
        var aborts: [TransferID] = []
        /// No more work will come and no slot is taken: the loop ends.
        var isFinished = false
    }

    private let maxRunning: Int
    private let maxWaiting: Int
    private var states: [TransferID: State] = [:]
    private var line: WaitingLine<TransferID>
    private var starts: [(id: TransferID, order: Order)] = []
    private var aborts: [TransferID] = []
    private var nextID: UInt64 = 0
    private var wakeIsDue = false
    private(set) var isClosed = false
    /// Transfers with a slot; never above `maxRunning`.
    private(set) var runningCount = 0
    /// Never above `maxWaiting`.
    var waitingCount: Int { line.count }

    init(maxRunning: Int, maxWaiting: Int) {
        self.maxRunning = maxRunning
        self.maxWaiting = maxWaiting
        line = WaitingLine()
    }

    /// Gives out an identity, so that cancelling can be told apart from cancelling what has ended.
    /// Has to be followed by one ``submit(_:order:ticket:)``.
    mutating func announce() -> TransferID {
        defer { nextID += 1 }
        let id = TransferID(rawValue: nextID)
        states[id] = .announced
        return id
    }

    mutating func submit(_ id: TransferID, order: Order, ticket: Ticket) -> Submission {
        if case .cancelledEarly = states[id] {
            states[id] = nil
            return .refused(ticket, .cancelled)
        }
        if isClosed {
            states[id] = nil
            return .refused(ticket, .closed)
        }
        if runningCount < maxRunning {
            run(id, order: order, ticket: ticket)
            return .accepted(wake: takeWake())
        }
        guard line.count < maxWaiting else {
            states[id] = nil
            return .refused(ticket, .tooManyWaiting)
        }
        states[id] = .waiting(order, ticket)
        line.append(id)
        return .accepted(wake: false)
    }

    /// Hands out the ticket at once, unless it was before; a running transfer's slot is free once the loop dropped it.
    mutating func cancel(_ id: TransferID) -> (ticket: Ticket?, wake: Bool) {
        switch states[id] {
        case .announced:
            states[id] = .cancelledEarly
            return (nil, false)
        case .waiting(_, let ticket):
            states[id] = nil
            line.remove(id)
            return (ticket, false)
        case .running(let ticket):
            abort(id)
            return (ticket, takeWake())
        case .cancelledEarly, .aborting, nil:
            return (nil, false)
        }
    }

    /// Tells what ended since the last turn, and asks what to do now.
    mutating func turn(ended: [TransferID]) -> Turn {
        var turn = Turn()
        turn.ended.reserveCapacity(ended.count)
        for id in ended {
            turn.ended.append(end(id))
        }
        while runningCount < maxRunning, let id = line.popFirst() {
            guard case .waiting(let order, let ticket) = states[id] else { continue }
            run(id, order: order, ticket: ticket)
        }
        swap(&turn.starts, &starts)
        swap(&turn.aborts, &aborts)
        turn.isFinished = isClosed && runningCount == 0
        wakeIsDue = false
        return turn
    }

    /// Accepts nothing from now on and hands out every ticket, the oldest transfer's first.
    mutating func close() -> (tickets: [Ticket], wake: Bool) {
        guard !isClosed else { return ([], false) }
        isClosed = true
        var tickets: [Ticket] = []
        for id in states.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            switch states[id] {
            case .waiting(_, let ticket):
                states[id] = nil
                tickets.append(ticket)
            case .running(let ticket):
                abort(id)
                tickets.append(ticket)
            case .announced, .cancelledEarly, .aborting, nil: break
            }
        }
        line = WaitingLine()
        return (tickets, takeWake())
    }

    private mutating func run(_ id: TransferID, order: Order, ticket: Ticket) {
        runningCount += 1
        states[id] = .running(ticket)
        starts.append((id, order))
    }

    private mutating func abort(_ id: TransferID) {
        states[id] = .aborting
        aborts.append(id)
    }

    private mutating func end(_ id: TransferID) -> Ticket? {
        switch states[id] {
        case .running(let ticket):
            states[id] = nil
            runningCount -= 1
            return ticket
        case .aborting:
            states[id] = nil
            runningCount -= 1
            return nil
        case .announced, .cancelledEarly, .waiting, nil:
            return nil
        }
    }

    /// True once until the loop's next turn: one wake-up serves everything that comes before it.
    private mutating func takeWake() -> Bool {
        guard !wakeIsDue else { return false }
        wakeIsDue = true
        return true
    }
}
