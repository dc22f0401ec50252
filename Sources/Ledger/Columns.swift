public import Contract
import Cryptography

extension ClaimDigest {
    /// A digest that a column holds; nil unless these are 32 bytes.
    public init?(bytes: [UInt8]) {
        guard let digest = SHA256Digest(bytes: bytes) else { return nil }
        self.init(digest)
    }

    public var bytes: [UInt8] { digest.bytes }
}

extension AttemptHistory {
    /// The form of a column: a line per attempt, with its time in milliseconds, its cause and its detail. Nil for none.
    public var text: String? {
        guard !attempts.isEmpty else { return nil }
        return attempts.map { attempt in
            let detail = String(attempt.detail.map { $0.isNewline ? " " : $0 })
            return "\(attempt.at.milliseconds) \(attempt.cause) \(detail)"
        }.joined(separator: "\n")
    }

    /// The attempts in a column. Lines of another form are left out: they are for people.
    public init(text: String?) {
        self.init(
            (text ?? "").split(separator: "\n").compactMap { line in
                let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
                guard parts.count == 3, let at = Int64(parts[0]) else { return nil }
                return Attempt(at: Timestamp(milliseconds: at), cause: String(parts[1]), detail: String(parts[2]))
            })
    }
}

extension PassedOver {
    /// The form of a column: a line with each reason and its number. A line for each named purchase follows, with its
    /// reason, transaction and product.
    public var text: String {
        let counted = Reason.allCases.compactMap { reason in counts[reason].map { "\(reason.rawValue) \($0)" } }
        let named = named.map { entry in
            let product = String(entry.productID.rawValue.map { $0.isNewline ? " " : $0 })
            return "\(entry.reason.rawValue) \(entry.transactionID) \(product)"
        }
        return (counted + named).joined(separator: "\n")
    }

    /// The content of a column. Lines of another form, and reasons of a later version, are left out: they are for
    /// people.
    public convenience init(text: String) {
        var named: [Entry] = []
        var counts: [Reason: Int] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard parts.count > 1, let reason = Reason(rawValue: parts[0]) else { continue }
            if parts.count == 2 {
                counts[reason] = Int(parts[1])
            } else {
                named.append(Entry(TransactionID(parts[1]), ProductID(parts[2]), reason))
            }
        }
        self.init(named: named, counts: counts, holding: [])
    }
}

extension GrantKey {
    /// The form of a column: nil for the transaction's own key, the bare id for another transaction's key, else the
    /// name.
    public func column(of transaction: TransactionID) -> String? {
        guard name.hasPrefix("t:") else { return name }
        let id = name.dropFirst(2)
        return id == transaction.rawValue ? nil : String(id)
    }

    /// The key in a column and its row's transaction.
    public init(environment: Environment, column: String?, of transaction: TransactionID) {
        let column = column ?? transaction.rawValue
        let isName = column.hasPrefix("w:") || column.hasPrefix("p:")
        self.init(environment: environment, name: isName ? column : "t:" + column)
    }

    /// The key's form in the index, the same for rows with and without a value in the column.
    public var indexed: String { name.hasPrefix("t:") ? String(name.dropFirst(2)) : name }
}

extension WaitCause {
    /// The word of a column. Another column has the endpoint; a row without one is held.
    public var word: String {
        switch self {
        case .retrying(let cause, _): cause.rawValue
        case .held(let cause): cause.rawValue
        }
    }

    public var endpoint: Endpoint? {
        switch self {
        case .retrying(_, let endpoint): endpoint
        case .held: nil
        }
    }

    /// The cause in a row. A word of a later version counts as the mildest cause: while versions are mixed, neither may
    /// stop the other.
    public init(word: String, endpoint: Endpoint?) {
        if let endpoint {
            self = .retrying(RetryCause(rawValue: word) ?? .noAnswer, endpoint)
        } else {
            self = .held(HoldCause(rawValue: word) ?? .unknownAnswer)
        }
    }
}

extension Evidence {
    /// Its kind, by the word of a column.
    public enum Kind: String, Sendable, CaseIterable {
        case receipt, signedTransaction
        case transactionID = "transactionId"
    }

    public var kind: Kind {
        switch self {
        case .receipt: .receipt
        case .signedTransaction: .signedTransaction
        case .transactionID: .transactionID
        }
    }

    public var bytes: ArraySlice<UInt8> {
        switch self {
        case .receipt(let text), .signedTransaction(let text): text.bytes
        case .transactionID(let id): Array(id.rawValue.utf8)[...]
        }
    }

    /// The evidence in two columns.
    public init(_ kind: Kind, bytes: [UInt8]) {
        switch kind {
        case .receipt: self = .receipt(base64: EvidenceText(bytes[...]))
        case .signedTransaction: self = .signedTransaction(EvidenceText(bytes[...]))
        case .transactionID: self = .transactionID(TransactionID(reading: String(decoding: bytes, as: UTF8.self)))
        }
    }
}

extension Submission {
    /// Bytes of claim and evidence, as the bound of `retries` counts them.
    public var retainedBytes: Int {
        let texts = [
            id.rawValue, userID.rawValue, bundleID.rawValue, orderID?.rawValue, traceparent,
            claim.transactionID?.rawValue, claim.productID?.rawValue, claim.appAccountToken,
        ]
        return evidence.byteCount + texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }
}
