import AppStore
import Purchases

/// What a call says about its target, whatever it says about the submission.
enum CallOutcome: Hashable, Sendable {
    /// It answered. A refused key is an answer, too: one app's bad credentials must never stop another app.
    case answered
    /// It could not answer.
    case failed
    /// It could not answer, and fewer calls at once may help.
    case overloaded
    /// It asks not to be called for a while; nil where it does not say for how long.
    case limited(wait: Duration?)
    /// Nothing was learnt: no call was made, or it was given up on our side.
    case unknown
}

extension CallOutcome {
    /// What an HTTP status says of each service; the first row that has it counts.
    ///
    /// verifyReceipt sends 200 with every answer, so any other status comes from something in between, and only those
    /// that find fault with this one request say nothing about the next. The App Store Server API answers with 4xx.
    static let table: [(codes: ClosedRange<Int>, verifyReceipt: CallOutcome, serverAPI: CallOutcome)] = [
        (200...200, .answered, .answered),
        (400...400, .answered, .answered),
        (408...408, .overloaded, .overloaded),
        (413...414, .answered, .answered),
        (429...429, .limited(wait: nil), .limited(wait: nil)),
        (431...431, .answered, .answered),
        (400...499, .failed, .answered),
        (503...504, .overloaded, .overloaded),
    ]

    /// What follows from a status; `failed` for one that is not in the table (1xx, other 2xx, 3xx, other 5xx).
    static func of(httpStatus: Int, from service: AppleService) -> CallOutcome {
        guard let row = table.first(where: { $0.codes.contains(httpStatus) }) else { return .failed }
        return switch service {
        case .verifyReceipt: row.verifyReceipt
        case .serverAPI: row.serverAPI
        }
    }

    /// What follows from having no response.
    static func of(_ failure: TransportFailure) -> CallOutcome {
        switch failure {
        case .unreachable, .tls, .interrupted: .failed
        case .timedOut: .overloaded
        // It is this answer that is large; the next one need not be.
        case .tooLarge: .answered
        case .cancelled: .unknown
        }
    }

    /// What a call says about its target.
    ///
    /// - Parameters:
    ///   - verdict: what the reply led to, if it ended the try: a 200 can hold "try later" (21005, 21009, ...) or no
    ///     answer at all (HTML, or cut off).
    ///   - now: when the reply came, to measure the pause that it asks for.
    init(_ reply: AppStoreReply, from service: AppleService, concluded verdict: Verdict?, now: Timestamp) {
        switch reply {
        case .failed(let failure): self = .of(failure)
        case .response(200, _, _):
            switch verdict {
            case .retry(.noAnswer, _, _), .retry(.temporarilyUnable, _, _): self = .failed
            default: self = .answered
            }
        case .response(let status, _, _):
            let outcome = Self.of(httpStatus: status, from: service)
            if case .limited = outcome {
                self = .limited(wait: reply.pause(now: now).map { $0.since(now) })
            } else {
                self = outcome
            }
        }
    }
}
