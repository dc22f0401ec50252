internal import Contract
internal import HTTPServer
internal import SimulatorServer
internal import Synchronization

/// Answers calls to the production and the sandbox endpoint: verifyReceipt and the App Store Server API.
final class EndpointService: Sendable {
    let context: ServerContext
    private let receipts: VerifyReceiptService
    private let transactions: ServerAPIService

    init(context: ServerContext, receipts: VerifyReceiptService, transactions: ServerAPIService) {
        self.context = context
        self.receipts = receipts
        self.transactions = transactions
    }

    /// The answer to a request.
    func answer(_ request: Request, in environment: Environment) -> ServerAnswer {
        context.count(in: environment) { $0.calls += 1 }
        if let outage = context.book.withLock({ $0.outage(in: environment) }) {
            return answer(during: outage, in: environment)
        }
        if let call = ServerAPICall(path: request.head.path) {
            return transactions.answer(call, request, in: environment)
        }
        guard request.head.path == "/verifyReceipt" else {
            return context.refuse(404, "Not found.", in: environment)
        }
        return receipts.answer(request, in: environment)
    }

    private func answer(during outage: Behaviour.Outage, in environment: Environment) -> ServerAnswer {
        context.count(in: environment) { $0.faults[outage.rawValue, default: 0] += 1 }
        return switch outage {
        case .unavailable: .reply(.text(503, "The service is unavailable."))
        case .closed: ServerAnswer(.close)
        }
    }
}
