internal import AppStore
internal import CertificateMaking
internal import Contract

/// Nothing unsigned is verified, whatever the evidence is made of.
enum EvidenceFuzzing {
    static let now = Timestamp(milliseconds: 1_795_237_200_000)
    static let origin = Origin(topic: "receipts.submitted", partition: 0, offset: 7)
    static let claimant = Claimant(
        submissionID: "s", userID: "u", bundleID: "com.example.racer", orderID: "o", traceparent: nil)

    /// Checks by the rules of an app for each way to verify receipts, which trust Apple's roots.
    struct Checks: Sendable {
        let verifiers: SignatureVerifiers
        let byMethod: [ReceiptMethod: LocalChecker]

        init() throws(BrokenRule) {
            guard let roots = try? TrustedRoots.apple(),
                let credentials = try? ServerAPICredentials(issuerID: "i", keyID: "k", privateKeyPEM: SampleKey.pem)
            else { throw BrokenRule("Apple's roots and a key can be read") }
            let verifiers = SignatureVerifiers(roots: roots)
            let app = App(bundleID: claimant.bundleID, sandbox: .accept, products: .any)
            byMethod = Dictionary(
                uniqueKeysWithValues: ReceiptMethod.allCases.map { method in
                    let rules = AppRules(app: app, receipts: method, serverAPI: credentials)
                    return (method, LocalChecker(apps: [rules], verifiers: verifiers))
                })
            self.verifiers = verifiers
        }
    }

    private static let made = Result<Checks, BrokenRule> { () throws(BrokenRule) in try Checks() }

    static func checks() throws(BrokenRule) -> Checks { try made.get() }

    static func submission(_ bytes: [UInt8]) throws(BrokenRule) {
        let record = InputRecord(origin: origin, key: nil, value: bytes, timestamp: now)
        let reading = SubmissionReading(record, now: now)
        guard SubmissionReading(record, now: now) == reading else { throw BrokenRule("a record is read in two ways") }
        guard case .submission(let submission) = reading else { return }
        guard !submission.id.rawValue.isEmpty, !submission.userID.rawValue.isEmpty else {
            throw BrokenRule("a submission has no name or no user")
        }
        guard ClaimDigest(of: submission) == ClaimDigest(of: submission) else {
            throw BrokenRule("a claim has two digests")
        }
        try check(submission)
    }

    static func receipt(_ bytes: [UInt8]) throws(BrokenRule) {
        try check(.receipt(base64: EvidenceText(bytes[...])))
        try check(.receipt(base64: EvidenceText(base64(bytes, alphabet: standard))))
        guard let receipt = try? AppReceipt(der: bytes) else { return }
        _ = receipt.purchases
        guard (try? checks().verifiers.receipts.verify(receipt)) == nil else {
            throw BrokenRule("a receipt holds that nobody signed")
        }
    }

    /// As text, and as the header of one, where most of what an attacker can write stands.
    static func signedTransaction(_ bytes: [UInt8]) throws(BrokenRule) {
        let header = base64(bytes, alphabet: urlSafe)
        for text in [EvidenceText(bytes[...]), EvidenceText("\(header).e30.\(String(repeating: "A", count: 86))")] {
            try check(.signedTransaction(text))
            let steps = try checks().verifiers.transactions.explain(text, now: now)
            guard steps.contains(where: { $0.outcome == .failed }) else {
                throw BrokenRule("a signed transaction holds that nobody signed")
            }
        }
    }

    static func payload(_ bytes: [UInt8]) throws(BrokenRule) {
        guard let transaction = try? SignedTransaction(payload: bytes),
            case .success(let purchase) = transaction.purchase
        else { return }
        guard !purchase.transactionID.rawValue.isEmpty, !purchase.productID.rawValue.isEmpty else {
            throw BrokenRule("a purchase has no transaction or no product")
        }
    }

    private static func check(_ evidence: Evidence) throws(BrokenRule) {
        try check(Submission(claimant: claimant, claim: .nothing, evidence: evidence, origin: origin, receivedAt: now))
    }

    private static func check(_ submission: Submission) throws(BrokenRule) {
        var dated = submission
        for (_, checker) in try checks().byMethod {
            for outcome in [checker.check(&dated, at: now), checker.checkBySignature(submission, at: now)] {
                if case .concluded(.verified) = outcome { throw BrokenRule("evidence holds that nobody signed") }
            }
        }
    }

    static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlSafe = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Base64; with padding in the standard alphabet (RFC 4648).
    static func base64(_ bytes: [UInt8], alphabet: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0...group.count { text.append(alphabet[bits >> (18 - 6 * place) & 63]) }
            if alphabet == standard { text += Array(repeating: UInt8(ascii: "="), count: 3 - group.count) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
