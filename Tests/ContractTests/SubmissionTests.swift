import Contract
import Cryptography
import Testing

@Suite("Claim digest")
struct ClaimDigestTests {
    private func digest(
        bundle: BundleID = "com.example.game", id: SubmissionID = "s", user: UserID = "u", order: OrderID? = nil,
        token: String? = nil, product: ProductID? = nil, transaction: TransactionID? = nil,
        environment: Environment? = nil, submittedAt: Timestamp? = nil, evidence: Evidence = .receipt(base64: "AAAA"),
        traceparent: String? = nil
    ) -> ClaimDigest {
        ClaimDigest(
            of: Fixture.submission(
                claimant: Claimant(
                    submissionID: id, userID: user, bundleID: bundle, orderID: order, traceparent: traceparent),
                claim: Claim(
                    transactionID: transaction, productID: product, appAccountToken: token, environment: environment,
                    submittedAt: submittedAt),
                evidence: evidence))
    }

    /// Rows keep digests, so later versions must compute the same ones.
    @Test("is SHA-256 over the parts, each with its length in front")
    func known() {
        let length = { (count: UInt8) in [0, 0, 0, 0, 0, 0, 0, count] as [UInt8] }
        var parts = Array("claim/1".utf8)
        parts += [1] + length(16) + Array("com.example.game".utf8) + [1] + length(1) + Array("s".utf8)
        parts += [1] + length(1) + Array("u".utf8) + [0, 0, 0, 0]
        parts += Array("r".utf8) + length(4) + Array("AAAA".utf8)
        #expect(digest().digest == SHA256.hash(parts))
    }

    @Test("differs as soon as one part differs, and where texts move from one part to the next")
    func parts() {
        let digests = [
            digest(), digest(bundle: "com.example.gam"), digest(id: "t"), digest(user: "v"), digest(order: "1"),
            digest(token: "1"), digest(product: "1"), digest(transaction: "1"), digest(order: ""),
            digest(evidence: .receipt(base64: "AAAB")), digest(evidence: .signedTransaction("AAAA")),
            digest(evidence: .transactionID("AAAA")), digest(bundle: "com.example.games", id: ""),
        ]
        #expect(Set(digests).count == digests.count)
    }

    @Test("is read back from its bytes")
    func stored() throws {
        let original = digest()
        let stored = try #require(SHA256Digest(bytes: original.digest.bytes))
        #expect(ClaimDigest(stored) == original)
        #expect("\(original)".utf8.count == 64)
    }
}

@Suite("Evidence as text")
struct EvidenceTextTests {
    private let record = Array("{\"receipt\":\"AAé\"}".utf8)

    @Test("is what it is a part of, up to its own ends")
    func part() {
        let text = EvidenceText(record[12..<16])
        #expect(text.string == "AAé")
        #expect(text == "AAé")
        #expect(text != "AAe")
        #expect(Set([text, EvidenceText("AAé"), "AA"]).count == 2)
    }

    @Test("does not describe itself: evidence is worth a purchase, and descriptions end up in logs")
    func description() {
        #expect("\(EvidenceText("secret"))" == "6 bytes")
    }
}
