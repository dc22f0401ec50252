internal import AppStore
internal import Contract

/// A question ends within a few calls, whatever Apple's servers answer. Unsigned answers of the App Store Server API
/// grant nothing.
enum AnswerFuzzing {
    /// Most calls of a question if each gets the same reply: for environments, secrets, fresh connections, and pages of
    /// a history.
    private static let maxCalls = 64

    static func verifyReceipt(_ bytes: [UInt8]) throws(BrokenRule) {
        let text = EvidenceFuzzing.base64(SampleReceipt.der, alphabet: EvidenceFuzzing.standard)
        try answer(.receipt(base64: EvidenceText(text)), .verifyReceipt, bytes) { verdict throws(BrokenRule) in
            if case .verified(let purchases, _) = verdict, purchases.isEmpty {
                throw BrokenRule("nothing is verified")
            }
        }
    }

    static func serverAPI(_ bytes: [UInt8]) throws(BrokenRule) {
        try answer(.transactionID("2000000000000011"), .serverAPI, bytes) { verdict throws(BrokenRule) in
            if case .verified = verdict { throw BrokenRule("an answer holds that nobody signed") }
        }
    }

    private static func answer(
        _ evidence: Evidence, _ method: ReceiptMethod, _ bytes: [UInt8],
        _ check: (Verdict) throws(BrokenRule) -> Void
    ) throws(BrokenRule) {
        let now = EvidenceFuzzing.now
        let checks = try EvidenceFuzzing.checks()
        var submission = Submission(
            claimant: EvidenceFuzzing.claimant, claim: .nothing, evidence: evidence, origin: EvidenceFuzzing.origin,
            receivedAt: now)
        guard case .ask(let first)? = checks.byMethod[method]?.check(&submission, at: now) else {
            throw BrokenRule("the sample evidence is asked about")
        }
        let retryAfter = String(decoding: bytes.prefix(32), as: UTF8.self)
        for status in [200, 400, 401, 404, 429, 500] {
            let reply = AppStoreReply.response(httpStatus: status, retryAfter: retryAfter, body: bytes)
            var question: (any AppleQuestion)? = first
            var calls = 0
            while let asked = question {
                calls += 1
                guard calls <= maxCalls else { throw BrokenRule("a question does not end") }
                guard case .send(let call) = asked.call(at: now) else { break }
                var step = asked.received(reply, to: call, at: now).step
                if case .check(let checked) = step { step = checked.checked(with: checks.verifiers, at: now) }
                switch step {
                case .verdict(let verdict):
                    try check(verdict)
                    question = nil
                case .ask(let next): question = next
                case .check: throw BrokenRule("signatures are checked twice")
                }
            }
        }
    }
}
