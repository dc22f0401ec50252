import Purchases
import Testing

@testable import grantor_chaos

@Suite("Plan of claims")
struct ClaimPlanTests {
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)

    private static func claims(_ count: Int, seed: UInt64 = 2030) -> [Claim] {
        var plan = ClaimPlan(seed: seed, now: now)
        return (0..<count).map { _ in plan.next() }
    }

    @Test("The same seed draws the same claims, another seed others")
    func repeats() {
        #expect(Self.claims(2000) == Self.claims(2000))
        #expect(Self.claims(2000) != Self.claims(2000, seed: 2027))
    }

    @Test("The run of every change has claims of every kind")
    func hasAllKinds() {
        let counts = Dictionary(grouping: Self.claims(1500), by: \.kind).mapValues(\.count)
        for kind in Claim.Kind.allCases { #expect(counts[kind, default: 0] >= 10, "\(kind.rawValue)") }
    }

    @Test("New purchases have ids of their own, and what is claimed again was claimed before")
    func identities() {
        var owners: [TransactionID: UserID] = [:]
        for claim in Self.claims(5000) {
            switch claim.kind {
            case .duplicate, .resubmission, .otherOrder:
                for transaction in claim.transactions { #expect(owners[transaction] == claim.userID) }
            case .otherUser:
                for transaction in claim.transactions {
                    #expect(owners[transaction] != nil)
                    #expect(owners[transaction] != claim.userID)
                }
            default:
                for transaction in claim.transactions {
                    #expect(owners.updateValue(claim.userID, forKey: transaction) == nil)
                }
            }
        }
    }

    @Test("Only a duplicate has the id of another submission")
    func submissionIDs() {
        let claims = Self.claims(5000)
        var seen: Set<SubmissionID> = []
        for claim in claims {
            guard let id = claim.submissionID else { continue }
            #expect(seen.insert(id).inserted == (claim.kind != .duplicate))
        }
    }
}
