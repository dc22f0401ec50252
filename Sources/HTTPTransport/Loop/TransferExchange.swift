import Synchronization

/// Where callers and the loop's thread meet: one lock, and one wake-up for all that comes before the loop's next turn.
final class TransferExchange: Sendable {
    typealias Ticket = CheckedContinuation<Result<HTTPResponse, HTTPTransportError>, Never>
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
            await withCheckedContinuation { submit(id, request, $0) }
        } onCancel: {
            let (ticket, wake) = table.withLock { $0.cancel(id) }
            if wake { poller.wake() }
            ticket?.resume(returning: .failure(.cancelled))
        }
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
            ticket.resume(returning: .failure(.closed))
        }
    }

    private func submit(_ id: TransferID, _ request: HTTPRequest, _ ticket: Ticket) {
        switch table.withLock({ $0.submit(id, order: request, ticket: ticket) }) {
        case .accepted(let wake):
            if wake { poller.wake() }
        case .refused(let ticket, let refusal):
            ticket.resume(returning: .failure(HTTPTransportError(refusal)))
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
