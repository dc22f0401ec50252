import Purchases

/// First look at what came of a call: an answer about the receipt, or the verdict that follows from having none.
enum ReplyReading: Sendable {
    case answer(VerifyReceiptResponse)
    case noAnswer(Verdict)

    /// What an HTTP status says about the body.
    enum Disposition: Hashable {
        /// The body is an answer, if it is one at all.
        case answer
        /// Nothing about the receipt; Apple, or something in between, is in trouble.
        case noAnswer
        /// We ask too often.
        case rateLimited
    }

    /// Every HTTP status; the first row that has it counts. Apple sends 200 with its answers, whatever they say, so any
    /// other status comes from something in between. A redirect is never followed: the receipt and the secret go to
    /// configured hosts alone.
    static let table: [(codes: ClosedRange<Int>, disposition: Disposition)] = [
        (200...200, .answer),
        (429...429, .rateLimited),
    ]

    /// What follows from an HTTP status; `noAnswer` for one that is not in the table (1xx, other 2xx, 3xx, 4xx, 5xx).
    static func disposition(of httpStatus: Int) -> Disposition {
        table.first { $0.codes.contains(httpStatus) }?.disposition ?? .noAnswer
    }

    /// Reads a reply that arrived at the given moment.
    init(_ reply: AppStoreReply, now: Timestamp) {
        switch reply {
        case .failed(.tooLarge):
            self = .noAnswer(.retry(.noAnswer, notBefore: nil, patience: .unlimited))
        case .failed(.unreachable), .failed(.timedOut), .failed(.tls), .failed(.interrupted), .failed(.cancelled):
            self = .noAnswer(.retry(.unreachable, notBefore: nil, patience: .unlimited))
        case .response(let status, let retryAfter, let body):
            let notBefore = RetryAfter.moment(retryAfter, now: now)
            switch Self.disposition(of: status) {
            case .answer:
                if let response = VerifyReceiptResponse(json: body) {
                    self = .answer(response)
                } else {
                    self = .noAnswer(.retry(.noAnswer, notBefore: notBefore, patience: .unlimited))
                }
            case .noAnswer:
                self = .noAnswer(.retry(.noAnswer, notBefore: notBefore, patience: .unlimited))
            case .rateLimited:
                self = .noAnswer(.retry(.rateLimited, notBefore: notBefore, patience: .unlimited))
            }
        }
    }
}
