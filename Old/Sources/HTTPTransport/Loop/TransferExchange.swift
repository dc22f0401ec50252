import Synchronization

/// Where callers and the loop's thread meet: one lock, and one wake-up for all that comes before the loop's next turn.
final class TransferExchange: Sendable {
    /// Called once with what became of a request, by whoever finds it out: the loop's thread, or who cancels or closes.
    typealias Ticket = @Sendable (Result<HTTPResponse, HTTPTransportError>) -> Void
    typealias Table = TransferTable<HTTPRequest, Ticket>

    private let table: Mutex<Table>
    private let poller: Poller

    init(maxRunning: Int, maxWaiting: Int, poller: Poller) {
        table = Mutex(Table(maxRunning: maxRunning, maxWaiting: maxWaiting))
        self.poller = poller
    }

    /// Suspends until the request is answered, refused, cancelled or the transport closed, whatever comes first.
    func answer(_ request: HTTPRequest) async -> Result<HTTPResponse, HTTPTransportError> {
        let id = table.withLock { $0.announce() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let submission = table.withLock { table in
                    table.submit(id, order: request, ticket: { continuation.resume(returning: $0) })
                }
                if let error = refusal(of: submission) { continuation.resume(returning: .failure(error)) }
            }
        } onCancel: {
            let (ticket, wake) = table.withLock { $0.cancel(id) }
            if wake { poller.wake() }
            ticket?(.failure(.cancelled))
        }
    }

    /// Has the ticket called once the request is answered or the transport closed, whatever comes first.
    ///
    /// - Returns: why the request is refused, and the ticket not called; nil if it is not.
    func send(_ request: HTTPRequest, _ ticket: @escaping Ticket) -> HTTPTransportError? {
        refusal(
            of: table.withLock { table in
                let id = table.announce()
                return table.submit(id, order: request, ticket: ticket)
            })
    }

    /// For the loop: tells what ended, and asks what to do now.
    func turn(ended: [TransferID]) -> (turn: Table.Turn, running: Int, waiting: Int) {
        table.withLock { ($0.turn(ended: ended), $0.runningCount, $0.waitingCount) }
    }

    /// Fails everything with ``HTTPTransportError/closed`` and accepts nothing more.
    func close() {
        let (tickets, wake) = table.withLock { $0.close() }
        if wake { poller.wake() }
        for ticket in tickets {
            ticket(.failure(.closed))
        }
    }

    /// Does what follows from a submission; the error if it was refused.
    private func refusal(of submission: Table.Submission) -> HTTPTransportError? {
        switch submission {
        case .accepted(let wake):
            if wake { poller.wake() }
            return nil
        case .refused(_, let refusal): return HTTPTransportError(refusal)
        }
    }
}

extension HTTPTransportError {
    fileprivate init(_ refusal: TransferExchange.Table.Refusal) {
        self =
            switch refusal {
            case .cancelled: .cancelled
            case .closed: .closed
            case .tooManyWaiting: .tooManyWaiting
            }
    }
}
