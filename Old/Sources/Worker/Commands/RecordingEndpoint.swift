import AppStore
import Fulfillment
import HTTPTransport
import Purchases
import Synchronization

/// Apple, with a list of what it was asked: for people who look into a case.
final class RecordingEndpoint: AppStoreEndpoint {
    /// One call, without its body.
    struct Call: Encodable {
        let environment: String
        let request: String
        /// The HTTP status, and what the body is if it is no JSON; or why there is none.
        let answer: String
    }

    private let endpoint: any AppStoreEndpoint
    private let recorded = Mutex<[Call]>([])

    init(_ endpoint: any AppStoreEndpoint) {
        self.endpoint = endpoint
    }

    /// What was asked, in order. One verification asks a bounded number of times.
    var calls: [Call] { recorded.withLock { $0 } }

    func verifyReceipt(
        _ environment: Environment, body: RequestBody, isFresh: Bool,
        then: @escaping @Sendable (AppStoreReply) -> Void
    ) {
        endpoint.verifyReceipt(environment, body: body, isFresh: isFresh) { [self] reply in
            record(environment, "verifyReceipt", reply)
            then(reply)
        }
    }

    func serverAPI(
        _ environment: Environment, _ request: ServerAPIRequest, bearer token: BearerToken, isFresh: Bool
    ) async -> AppStoreReply {
        let reply = await endpoint.serverAPI(environment, request, bearer: token, isFresh: isFresh)
        record(environment, "GET \(request.path)", reply)
        return reply
    }

    /// What gives an answer away that a proxy gave in Apple's place. Nothing of the body is shown: it may repeat what was sent.
    private static func oddity(of body: [UInt8]) -> String {
        switch body.first(where: { !" \t\r\n".utf8.contains($0) }) {
        case nil: ", an empty body"
        case UInt8(ascii: "{"): ""
        case UInt8(ascii: "<"): ", a body of HTML or XML"
        default: ", a body that is no JSON"
        }
    }

    private func record(_ environment: Environment, _ request: String, _ reply: AppStoreReply) {
        let answer =
            switch reply {
            case .response(let status, _, let body): "HTTP \(status)\(Self.oddity(of: body))"
            case .failed(let failure): failure.rawValue
            }
        recorded.withLock { $0.append(Call(environment: environment.rawValue, request: request, answer: answer)) }
    }
}
