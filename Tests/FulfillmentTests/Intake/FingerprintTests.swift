import JSONReading
import Testing

@testable import Fulfillment

@Suite("Fingerprints")
struct FingerprintTests {
    /// What any other program makes of the same members: fingerprints are kept in the ledger, and compared with those of later
    /// versions. Receipts short and long, because those are hashed in different ways.
    @Test(
        "are the SHA-256 of the members, each with its length in front",
        arguments: [
            (4, "a1e1aace5e32b0c49b9e8bd29970c26e3b4710bd8678ad0e678dbf2c2df16e47"),
            (511, "7ed7f1f29a933c1de48a3768a391c0c856b902241dcd947649ec967c5658203d"),
            (512, "cadcea6059444646ab184df64bbff5b17b9ea4c2db239b82aceed7275419ab50"),
            (513, "cce39e24c6a732cd15529591f2b7c6a417c8587b6ecc60fa448cb119b9417bb0"),
            (20_000, "d6b2b7612ca8dd15cc98d279a3c11b78d1b9c3de1b31977df6acd207017740f8"),
        ])
    func known(length: Int, expected: String) throws {
        let receipt = String(repeating: "A", count: length)
        let text = #"{"bundleId":"com.example.game","receipt":"\#(receipt)","productId":"gems"}"#
        let members = SubmissionMembers(try StrictJSON(Array(text.utf8)))
        #expect(Fingerprint.of(members, submissionID: "s-1", userID: "u-1") == expected)
    }
}
