import Contract
import Processing
import Scheduling

/// A reply about one claim that replaces the truth until a moment: any reply that decides nothing.
struct Spell: Sendable {
    enum Answer: CaseIterable {
        case doubt
        case hold
        /// HTTP 200 with a word for "later".
        case temporarilyUnable
        /// HTTP 500, or bytes that are no answer.
        case noAnswer
        /// HTTP 503 with a moment before which no call is allowed.
        case overloaded
        case timeout
        /// An answer that is too large to be read, which says nothing of the endpoint.
        case tooLarge
        /// Apple does not find what it attested, or refuses what it signed.
        case noLongerFound
        /// The worker's own client gave the call up.
        case givenUp
        /// The app has no key, so no call is made.
        case notSent
    }

    let end: Int64
    private let said: Answer
    private let doubt: RetryCause
    private let hold: HoldCause

    init(until end: Int64, _ random: inout SplitMix64) {
        self.end = end
        said = Answer.allCases.randomElement(using: &random) ?? .doubt
        doubt = Self.doubts.randomElement(using: &random) ?? .notFoundYet
        hold = Self.holds.randomElement(using: &random) ?? .unknownAnswer
    }

    /// Causes that a reply of Apple's alone can have.
    private static let doubts: [RetryCause] = [.perhapsMalformed, .perhapsNotAuthentic, .perhapsRevoked, .notFoundYet]
    private static let holds: [HoldCause] = [
        .sharedSecretRefused, .credentialsRefused, .requestRefused, .unknownAnswer, .productContradicted,
        .accountTokenMissing, .incompleteAnswer, .advancedCommerce, .partialRefund,
    ]

    /// For traces.
    var text: String { "\(said)" }

    /// Whether the endpoint seems to be in trouble.
    var isFailure: Bool {
        switch said {
        case .temporarilyUnable, .noAnswer, .overloaded, .timeout: true
        case .doubt, .hold, .tooLarge, .noLongerFound, .givenUp, .notSent: false
        }
    }

    /// Whether no call is made, so that nobody counts one.
    var isUnsent: Bool {
        switch said {
        case .givenUp, .notSent: true
        case .doubt, .hold, .temporarilyUnable, .noAnswer, .overloaded, .timeout, .tooLarge, .noLongerFound: false
        }
    }

    /// - Parameters:
    ///   - truth: The verdict without the spell, which a doubt ends with.
    ///   - namesOne: Whether the claim names a purchase by its id.
    func answer(insteadOf truth: Verdict, namesOne: Bool) -> (Verdict, CallOutcome) {
        switch said {
        case .doubt:
            switch truth {
            case .verified(let purchases, let by): (.doubt(doubt, becomes: .verified(purchases, by: by)), .replied)
            case .rejected(let rejection): (.doubt(doubt, becomes: .rejected(rejection)), .replied)
            case .retry, .doubt, .hold: (truth, .replied)
            }
        case .hold: (.hold(hold, detail: "Something of ours is wrong."), .replied)
        case .temporarilyUnable: (.retry(.temporarilyUnable, notBefore: nil), .failed)
        case .noAnswer: (.retry(.noAnswer, notBefore: nil), .failed)
        case .overloaded: (.retry(.noAnswer, notBefore: moment), .overloaded)
        case .timeout: (.retry(.unreachable, notBefore: nil), .overloaded)
        case .tooLarge: (.retry(.noAnswer, notBefore: nil), .replied)
        case .noLongerFound:
            (.retry(.noLongerFound, notBefore: nil, purchases: namesOne ? truth.claimed : []), .replied)
        case .givenUp: (.retry(.unreachable, notBefore: nil), .unknown)
        case .notSent: (.hold(.credentialsMissing, detail: "The app has no key."), .unknown)
        }
    }

    private var moment: Timestamp { Timestamp(milliseconds: World.wallStart + end) }
}

extension Verdict {
    /// The purchases that Apple signed.
    fileprivate var claimed: [NamedPurchase] {
        switch self {
        case .verified(let purchases, _): purchases.map { NamedPurchase($0.purchase, as: $0.type) }
        case .hold(_, _, let purchases): purchases
        case .rejected, .retry, .doubt: []
        }
    }
}
