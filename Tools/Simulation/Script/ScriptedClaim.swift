import Contract

/// A record of the input topic with the truth about it. The simulated world reveals it piece by piece, and the judge
/// knows it whole.
struct ScriptedRecord: Sendable {
    enum Content: Sendable {
        /// No submission can be read from it.
        case unreadable
        /// It names a submission and a user, and breaks the contract otherwise.
        case malformed(Claimant)
        case claim(ScriptedClaim)
    }

    /// Its place in the script; the record's value holds it.
    let number: Int
    let partition: Int32
    /// Milliseconds of virtual time at which it is produced.
    let producedAt: Int64
    let content: Content
    /// Larger than the quarantine topic takes, where that refuses by size.
    let isLarge: Bool
    /// Its check ends the worker that makes it.
    let endsWorkers: Bool
}

/// A claim, and the truth about its evidence.
final class ScriptedClaim: Sendable {
    /// The final word of Apple or of its signature.
    enum Truth: Sendable {
        case genuine
        /// It is forged: every check rejects it.
        case forged(Rejection)
        /// Some checks verify it and some reject it: workers differ in configuration, a purchase is revoked meanwhile.
        case changing(Rejection)
        /// Apple does not know it before a moment of virtual time, in milliseconds; then it is genuine.
        case late(Int64)
        /// Apple never knows it: a doubt that becomes this.
        case never(Rejection)
        /// Our configuration is wrong until a moment of virtual time, in milliseconds; then it is genuine.
        case held(Int64)
        /// The virtual time, in milliseconds, at which the workers' clocks reach the time of its signature, made ahead
        /// of them.
        case ahead(Int64)
        /// The receipt lacks its newest purchase before a moment of virtual time, in milliseconds.
        case growing(Int64)
    }

    let number: Int
    let claimant: Claimant
    let claim: Claim
    let evidence: Evidence
    /// The purchases that the evidence proves once it is genuine, in the order of the receipt; the newest last.
    let purchases: [GrantablePurchase]
    let truth: Truth
    /// Whom to ask, in order; empty where the signature is enough. A second one is a hop to the other environment, or
    /// the next page.
    let endpoints: [Endpoint]
    let verifiedBy: VerifiedBy
    /// A fulfilment service hears of its grants first.
    let owesCall: Bool
    let repeats: RepeatPolicy
    let whenVerifyReceiptUnavailable: VerifyReceiptOutagePolicy
    let doubtsNothingNew: Bool
    /// Apple's replies hold signatures, which a checker reads.
    var areAnswersSigned: Bool { verifiedBy == .serverAPI }

    init(
        number: Int, claimant: Claimant, claim: Claim, evidence: Evidence, purchases: [GrantablePurchase], truth: Truth,
        endpoints: [Endpoint], verifiedBy: VerifiedBy, owesCall: Bool, repeats: RepeatPolicy,
        whenVerifyReceiptUnavailable: VerifyReceiptOutagePolicy = .wait, doubtsNothingNew: Bool = false
    ) {
        self.number = number
        self.claimant = claimant
        self.claim = claim
        self.evidence = evidence
        self.purchases = purchases
        self.truth = truth
        self.endpoints = endpoints
        self.verifiedBy = verifiedBy
        self.owesCall = owesCall
        self.repeats = repeats
        self.whenVerifyReceiptUnavailable = whenVerifyReceiptUnavailable
        self.doubtsNothingNew = doubtsNothingNew
    }

    /// The submission as it is read from a record at a place.
    func submission(at origin: Origin, receivedAt: Timestamp) -> Submission {
        Submission(claimant: claimant, claim: claim, evidence: evidence, origin: origin, receivedAt: receivedAt)
    }

    /// The claim that a submission came from: its trace context carries the number through every row and event.
    static func number(of claimant: Claimant) -> Int? {
        claimant.traceparent.flatMap { Int($0.dropFirst(5)) }
    }

    /// A trace context that carries a claim's number.
    static func traceparent(_ number: Int) -> String { "claim\(number)" }
}
