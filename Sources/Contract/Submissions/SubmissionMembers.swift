/// The members of a submission as they stand in the message, not yet checked.
struct SubmissionMembers {
    /// The fault of a submission, in one sentence that names the member and never its value.
    struct Malformed: Error, Hashable {
        let detail: String
    }

    private let object: StrictJSON

    init(_ object: StrictJSON) {
        self.object = object
    }

    /// The bundle id where it can be read; nil otherwise.
    var bundleID: String? { try? optional("bundleId", MemberRules.isAppleID) }
    /// The order id where it can be read; nil otherwise.
    var orderID: String? { try? optional("orderId", MemberRules.isOrderID) }

    /// Checks every member and makes the submission.
    func submission(
        of claimant: Claimant, origin: Origin, receivedAt: Timestamp
    ) throws(Malformed) -> Submission {
        if let flaw = object.flaws.first { throw Malformed(detail: describe(flaw)) }
        _ = try required("bundleId", MemberRules.isAppleID)
        _ = try optional("orderId", MemberRules.isOrderID)
        let transactionID = try optional("transactionId", MemberRules.isTransactionID).map { TransactionID($0) }
        let environment = try optional("environment") { Environment(rawValue: $0) != nil }
        let token = try optional("appAccountToken") { MemberRules.uuid($0) != nil }
        let submittedAt = try optional("submittedAt") { Timestamp(rfc3339: $0) != nil }
        let claim = Claim(
            transactionID: transactionID,
            productID: try optional("productId", MemberRules.isAppleID).map { ProductID($0) },
            appAccountToken: token.flatMap(MemberRules.uuid), environment: environment.flatMap(Environment.init),
            submittedAt: submittedAt.flatMap(Timestamp.init(rfc3339:)))
        return Submission(
            claimant: claimant, claim: claim, evidence: try evidence(transactionID), origin: origin,
            receivedAt: receivedAt)
    }

    /// The signed transaction, where there is one: it needs nobody to be asked. Else the receipt, else the id.
    private func evidence(_ transactionID: TransactionID?) throws(Malformed) -> Evidence {
        let receipt = try evidenceText("receipt")
        let signedTransaction = try evidenceText("signedTransaction")
        if let signedTransaction { return .signedTransaction(signedTransaction) }
        if let receipt { return .receipt(base64: receipt) }
        if let transactionID { return .transactionID(transactionID) }
        throw Malformed(detail: "One of receipt, signedTransaction or transactionId is needed.")
    }

    /// Any text at all: the local check judges its form.
    private func evidenceText(_ name: String) throws(Malformed) -> EvidenceText? {
        if let bytes = object.members.bytes(of: name) { return EvidenceText(bytes) }
        _ = try optional(name) { _ in true }
        return nil
    }

    private func required(_ name: String, _ isAllowed: (String) -> Bool) throws(Malformed) -> String {
        guard let text = try optional(name, isAllowed) else { throw Malformed(detail: "\(name) is missing.") }
        return text
    }

    private func optional(_ name: String, _ isAllowed: (String) -> Bool) throws(Malformed) -> String? {
        switch object.members[name] {
        case nil, .null: return nil
        case .string(let text):
            guard isAllowed(text) else { throw Malformed(detail: "\(name) has a form that is not allowed.") }
            return text
        default: throw Malformed(detail: "\(name) is not a string.")
        }
    }

    private func describe(_ flaw: StrictJSON.Flaw) -> String {
        switch flaw {
        case .duplicateMember(let name) where Self.known.contains(name): "\(name) stands more than once."
        case .duplicateMember, .duplicateNestedMember: "A member stands more than once."
        case .tooDeep: "Nested deeper than \(StrictJSON.maxDepth) levels."
        case .tooManyMembers: "An object has more than \(StrictJSON.maxMembers) members."
        }
    }

    /// All names of the contract; others are not repeated in a detail, because anybody may have chosen them.
    static let known = [
        "submissionId", "userId", "bundleId", "receipt", "signedTransaction", "transactionId", "productId", "orderId",
        "appAccountToken", "environment", "submittedAt",
    ]
}
