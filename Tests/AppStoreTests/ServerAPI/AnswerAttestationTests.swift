import Contract
import Testing

@testable import AppStore

@Suite("Attestation of answers")
struct AnswerAttestationTests {
    private func attestation(_ environment: Environment = .production) throws -> AnswerAttestation {
        AnswerAttestation(
            verifier: SignedTransactionVerifier(roots: try SignedToken.chain.roots()), environment: environment,
            now: Fixture.now)
    }

    private func distrust(_ body: () throws -> Void) -> Verdict? {
        do {
            try body()
            return nil
        } catch {
            return (error as? AnswerAttestation.Distrust)?.verdict
        }
    }

    @Test("takes what Apple signed for the environment that was asked, and nothing else")
    func environment() throws {
        for environment in Environment.allCases {
            let attestation = try attestation(environment)
            for name in ["Production", "Sandbox", "Moon", "Xcode"] {
                let text = try SignedToken(["environment": "\"\(name)\""]).text()
                let verdict = distrust {
                    _ = try attestation.transaction(EvidenceText(text), as: LookupScript.id)
                }
                #expect((verdict == nil) == (name == environment.nameInAnswers))
                #expect(verdict?.hold == (verdict == nil ? nil : .unknownAnswer))
            }
        }
    }

    @Test("a signature of anybody else is no reason to fail the player")
    func foreign() throws {
        let text = try SignedToken(chain: ChainBuilder()).text()
        let verdict = distrust {
            _ = try attestation().transaction(EvidenceText(text), as: LookupScript.id)
        }
        #expect(verdict?.hold == .unknownAnswer)
    }

    @Test("takes the transaction that was asked for, whatever zeros the question had")
    func asked() throws {
        let attestation = try attestation()
        let text = try SignedToken([:]).text()
        for (asked, isTaken) in [
            ("2000000000000001", true), ("0002000000000001", false), ("02000000000000001", true),
            ("2000000000000002", false), ("0", false),
        ] {
            let verdict = distrust {
                _ = try attestation.transaction(EvidenceText(text), as: TransactionID(asked))
            }
            #expect((verdict == nil) == isTaken, "\(asked)")
        }
    }
}
