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

    @Test(
        "are over what members say, however it is written, and over nothing where they say nothing",
        arguments: [
            (
                #","receipt":"A\/\u00e9\ud83d\ude00","productId":"\u0067ems""#,
                "3e5d2d3e2b08b2620848c42765f16a78cc518a7271cd7f9574d471642aa6b1ab"
            ),
            (
                #","receipt":"\#(String(repeating: #"AAA\/"#, count: 200))","productId":"gems""#,
                "ff5ebc95796c5ecb9b867b363ce540be5f736293bd38447234d639b34678cc0e"
            ),
            (#","receipt":"""#, "d158ba9dbd23323fac32c750a5fff5c798bb9321c3864282bcc51f1d498d1d34"),
            ("", "09ccba5d2b8c07d6647acfaabecc9875e613228f050c82bc58b69fb654229b99"),
            (#","receipt":null,"productId":5"#, "09ccba5d2b8c07d6647acfaabecc9875e613228f050c82bc58b69fb654229b99"),
            (
                #","receipt":"A","receipt":"B""#,
                "09ccba5d2b8c07d6647acfaabecc9875e613228f050c82bc58b69fb654229b99"
            ),
        ])
    func spellings(more: String, expected: String) throws {
        let text = #"{"bundleId":"com.example.game"\#(more)}"#
        let members = SubmissionMembers(try StrictJSON(Array(text.utf8)))
        #expect(Fingerprint.of(members, submissionID: "s-1", userID: "u-1") == expected)
    }
}
