import AppStore
import Contract
import Synchronization

@testable import Commands

/// An Apple that answers every call alike, and notes what it was asked.
struct FixedApple: AppleCaller {
    final class Asked: Sendable {
        private let calls = Mutex<[String]>([])

        var all: [String] { calls.withLock { $0 } }

        func add(_ call: String) { calls.withLock { $0.append(call) } }
    }

    var answer = AppStoreReply.response(httpStatus: 200, retryAfter: nil, body: Array("{\"status\":21002}".utf8))
    /// Of one environment, in place of ``answer``.
    var sandboxAnswer: AppStoreReply?
    let asked = Asked()

    func reply(to call: AppleCall) -> AppStoreReply {
        asked.add("\(call)")
        return call.endpoint.environment == .sandbox ? sandboxAnswer ?? answer : answer
    }

    func replyToEmptyReceipt(_ environment: Environment) -> AppStoreReply {
        asked.add("empty receipt \(environment.rawValue)")
        return environment == .sandbox ? sandboxAnswer ?? answer : answer
    }
}
