import Foundation
import Purchases
import Synchronization

/// Answers calls to the production and the sandbox endpoint: verifyReceipt and the App Store Server API.
final class EndpointService: Sendable {
    let backstage: Backstage
    private let receipts: VerifyReceiptService
    private let transactions: ServerAPIService

    init(backstage: Backstage, receipts: VerifyReceiptService, transactions: ServerAPIService) {
        self.backstage = backstage
        self.receipts = receipts
        self.transactions = transactions
    }

    /// What is to be done about a request.
    func perform(_ request: Request, in environment: Environment) -> Performance {
        backstage.count(in: environment) { $0.calls += 1 }
        if let outage = backstage.book.withLock({ $0.outage(in: environment) }) {
            return perform(outage, in: environment)
        }
        let call = ServerAPICall(path: request.path)
        guard call != nil || request.path == "/verifyReceipt" else {
            return backstage.refuse(404, "Not found.", in: environment)
        }
        guard !request.isTooLarge else { return backstage.refuse(413, "The request is too large.", in: environment) }
        guard let call else { return receipts.perform(request, in: environment) }
        return transactions.perform(call, request, in: environment)
    }

    private func perform(_ outage: Behaviour.Outage, in environment: Environment) -> Performance {
        backstage.count(in: environment) { $0.faults[outage.rawValue, default: 0] += 1 }
        return switch outage {
        case .unavailable: Performance(act: .reply(Stage.text(503, "The service is unavailable.")))
        case .closed: Performance(act: .close)
        }
    }
}

/// A request as a connection read it.
struct Request: Sendable {
    var method: String
    /// Without a query.
    var path: String
    /// What follows the question mark; nil without one.
    var query: String?
    /// The header of that name; nil without one, or with several.
    var authorization: String?
    var body: Data
    /// Whether the body was longer than the limit; then it was not kept.
    var isTooLarge = false
}
