import CertificateMaking
import Contract
import Cryptography
import FoundationEssentials
import Testing

@testable import AppStore

/// A token and its error; nil for a token that verifies.
struct SignedCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: SignedTransactionError?
    let text: @Sendable () throws -> String

    init(_ description: String, _ error: SignedTransactionError?, text: @escaping @Sendable () throws -> String) {
        testDescription = description
        self.error = error
        self.text = text
    }

    /// A token with parts changed before it is signed.
    init(
        _ description: String, _ error: SignedTransactionError?,
        _ change: @escaping @Sendable (inout SignedToken) throws -> Void
    ) {
        self.init(
            description, error,
            text: {
                var token = try SignedToken()
                try change(&token)
                return try token.text()
            })
    }
}

extension SignedCase {
    /// The usual token with something else instead of its signature, which does not hold.
    private static func signature(
        _ description: String, _ signature: @escaping @Sendable (SignedToken) throws -> [UInt8]
    ) -> SignedCase {
        SignedCase(
            description, .wrongSignature,
            text: {
                let token = try SignedToken()
                return token.text(signedBy: try signature(token))
            })
    }

    /// The chain's certificates as `x5c` has them, with changes.
    static func certificates(_ change: (inout [String]) -> Void) throws -> String {
        let chain = SignedToken.chain
        var texts = try [chain.leafDER(), chain.intermediateDER(), chain.rootDER()]
            .map { Data($0).base64EncodedString() }
        change(&texts)
        return SignedToken.list(texts)
    }

    static let headers: [SignedCase] = [
        SignedCase("as Apple signs it", nil) { _ in },
        SignedCase("alg none", .wrongAlgorithm) { $0.header.set("alg", "\"none\"") },
        SignedCase("alg HS256", .wrongAlgorithm) { $0.header.set("alg", "\"HS256\"") },
        SignedCase("alg in lower case", .wrongAlgorithm) { $0.header.set("alg", "\"es256\"") },
        SignedCase("alg ES384", .wrongAlgorithm) { $0.header.set("alg", "\"ES384\"") },
        SignedCase("alg in an array", .wrongAlgorithm) { $0.header.set("alg", "[\"ES256\"]") },
        SignedCase("no alg", .wrongAlgorithm) { $0.header.set("alg", nil) },
        SignedCase("alg twice", .headerUnreadable) { $0.header.insert(("alg", "\"none\""), at: 0) },
        SignedCase("alg twice, once by an escape", .headerUnreadable) { $0.header.append(("\\u0061lg", "\"none\"")) },
        SignedCase("x5c twice", .headerUnreadable) { $0.header.append(("x5c", "[]")) },
        SignedCase("crit", .headerRefused) { $0.header.append(("crit", "[\"exp\"]")) },
        SignedCase("jku", .headerRefused) { $0.header.append(("jku", "\"https://example.com/keys\"")) },
        SignedCase("jwk", .headerRefused) { $0.header.append(("jwk", "{}")) },
        SignedCase("x5u", .headerRefused) { $0.header.append(("x5u", "\"https://example.com/chain\"")) },
        SignedCase("b64", .headerRefused) { $0.header.append(("b64", "false")) },
        SignedCase("kid and typ", nil) { $0.header += [("kid", "\"../../etc/passwd\""), ("typ", "\"JWT\"")] },
        SignedCase("no x5c", .wrongCertificateCount) { $0.header.set("x5c", nil) },
        SignedCase("x5c a text", .wrongCertificateCount) { $0.header.set("x5c", "\"AAAA\"") },
        SignedCase("x5c of no certificates", .wrongCertificateCount) { $0.header.set("x5c", "[]") },
        SignedCase("x5c of one certificate", .wrongCertificateCount) {
            $0.header.set("x5c", try certificates { $0.removeLast(2) })
        },
        SignedCase("x5c of two certificates", .wrongCertificateCount) {
            $0.header.set("x5c", try certificates { $0.removeLast() })
        },
        SignedCase("x5c of four certificates", .wrongCertificateCount) {
            $0.header.set("x5c", try certificates { $0.append($0[2]) })
        },
        SignedCase("x5c with a number", .wrongCertificateCount) {
            $0.header.set("x5c", try certificates { $0.removeLast() }.dropLast() + ",1]")
        },
        SignedCase("a root of junk: it is not looked at", nil) {
            $0.header.set("x5c", try certificates { $0[2] = "!!!" })
        },
        SignedCase("a root too large", .chain(.tooLarge)) {
            $0.header.set("x5c", try certificates { $0[2] = String(repeating: "A", count: 12_000) })
        },
        SignedCase("a leaf too large", .chain(.tooLarge)) {
            $0.header.set("x5c", try certificates { $0[0] = String(repeating: "A", count: 12_000) })
        },
        SignedCase("a leaf of junk", .chain(.unreadable)) { $0.header.set("x5c", try certificates { $0[0] = "!!!" }) },
        SignedCase("an intermediate of other bytes", .chain(.unreadable)) {
            $0.header.set("x5c", try certificates { $0[1] = "MAA=" })
        },
        SignedCase("certificates in base64url", .chain(.unreadable)) {
            $0.header.set("x5c", try certificates { $0[0] += "-_" })
        },
        SignedCase("the leaf three times", .chain(.wrongRole)) {
            $0.header.set("x5c", try certificates { $0 = [$0[0], $0[0], $0[0]] })
        },
        SignedCase("leaf and intermediate changed about", .chain(.wrongRole)) {
            $0.header.set("x5c", try certificates { $0.swapAt(0, 1) })
        },
        SignedCase("a header that is no JSON", .headerUnreadable) { $0.rawHeader = Array("ES256".utf8) },
        SignedCase("a header that is no UTF-8", .headerUnreadable) { $0.rawHeader = [0x7B, 0xFF, 0x7D] },
        SignedCase("a header that is nested deeply", .headerUnreadable) {
            $0.header.append(("x", String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)))
        },
    ]

    /// Changes of the payload, under a signature that holds.
    static let payloads: [SignedCase] = [
        SignedCase("the sandbox's: policy decides", nil) { $0.payload.set("environment", "\"Sandbox\"") },
        SignedCase("of Xcode", .localTesting) { $0.payload.set("environment", "\"Xcode\"") },
        SignedCase("of local tests", .localTesting) { $0.payload.set("environment", "\"LocalTesting\"") },
        SignedCase("of an unknown environment: to be held", nil) { $0.payload.set("environment", "\"Moon\"") },
        SignedCase("no moment of signing", .noSigningDate) { $0.payload.set("signedDate", nil) },
        SignedCase("signed before the certificates were valid", .outsideValidity) {
            $0.payload.set("signedDate", String(ChainBuilder.start.milliseconds - 1))
        },
        SignedCase("signed in their first moment", nil) {
            $0.payload.set("signedDate", String(ChainBuilder.start.milliseconds))
        },
        SignedCase("signed after the certificates were valid", .outsideValidity) {
            $0.payload.set("signedDate", String(ChainBuilder.end.milliseconds + 1))
        },
        SignedCase("signed five minutes ahead", nil) { $0.payload.set("signedDate", SignedToken.moment(300)) },
        SignedCase(
            "signed an hour ahead", .signedAhead(until: Fixture.now.advanced(by: .seconds(3_300)))
        ) { $0.payload.set("signedDate", SignedToken.moment(3_600)) },
        SignedCase("exp in the past: no member of Apple's", nil) { $0.payload.append(("exp", "1")) },
        SignedCase("a byte order mark", nil) {
            $0.rawPayload = [0xEF, 0xBB, 0xBF] + Array(SignedToken.object($0.payload).utf8)
        },
        SignedCase("no UTF-8", .payloadUnreadable) {
            $0.rawPayload = Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8)
        },
        SignedCase("text after the object", .payloadUnreadable) {
            $0.rawPayload = Array((SignedToken.object($0.payload) + "{}").utf8)
        },
        SignedCase("nested 400 deep", .payloadUnreadable) {
            $0.payload.append(("x", String(repeating: "[", count: 400) + String(repeating: "]", count: 400)))
        },
        SignedCase("nested 20,000 deep", .payloadUnreadable) {
            $0.payload.append(("x", String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)))
        },
        SignedCase("a cheap and an expensive product", .payloadUnreadable) {
            $0.payload.append(("productId", "\"vip\""))
        },
        SignedCase("a quantity of -5: policy decides", nil) { $0.payload.set("quantity", "-5") },
        SignedCase("a quantity beyond 32 bits: policy decides", nil) { $0.payload.set("quantity", "4294967297") },
        SignedCase("whole numbers as 1.0, 1e0 and 10990.0", nil) {
            $0.payload.set("quantity", "1e0")
            $0.payload.set("price", "10990.0")
        },
        SignedCase("a fractional price", nil) { $0.payload.set("price", "10990.5") },
        SignedCase("a transaction id as a number", nil) { $0.payload.set("transactionId", "2000000000000001") },
        SignedCase("an empty account token", nil) { $0.payload.set("appAccountToken", "\"\"") },
        SignedCase("an unknown type: to be held", nil) { $0.payload.set("type", "\"Rental\"") },
        SignedCase("something else that Apple signs", .notATransaction) {
            $0.rawPayload = Array("{\"notificationType\":\"TEST\",\"signedDate\":1}".utf8)
        },
    ]

    static let texts: [SignedCase] = [
        SignedCase("nothing", .notThreeParts, text: { "" }),
        SignedCase(
            "an unsigned token", .wrongAlgorithm,
            text: {
                "\(SignedToken.base64URL(Array("{\"alg\":\"none\"}".utf8))).\(try SignedToken().payloadPart)."
            }),
        SignedCase(
            "two parts", .notThreeParts,
            text: { try SignedToken().text().split(separator: ".").dropLast().joined(separator: ".") }),
        SignedCase("four parts", .notThreeParts, text: { try SignedToken().text() + ".AAAA" }),
        SignedCase("white space around it", nil, text: { " \t\(try SignedToken().text())\r\n" }),
        SignedCase(
            "white space in it", .wrongSignature,
            text: {
                let token = try SignedToken()
                let signature = SignedToken.base64URL(try token.signature())
                return "\(token.headerPart).\(token.payloadPart) .\(signature)"
            }),
        SignedCase("a byte order mark in front", .notBase64URL, text: { "\u{FEFF}" + (try SignedToken().text()) }),
        SignedCase("NUL at the end", .notBase64URL, text: { try SignedToken().text() + "\u{0}" }),
        SignedCase("padding", .notBase64URL, text: { try SignedToken().text() + "==" }),
        SignedCase("one character more", .notBase64URL, text: { try SignedToken().text() + "A" + "AA" }),
        .signature("no signature") { _ in [] },
        .signature("a signature of zeros") { _ in [UInt8](repeating: 0, count: 64) },
        .signature("a signature of ones") { _ in [UInt8](repeating: 0xff, count: 64) },
        .signature("a signature in DER") { token in
            token.chain.signingKey.ecdsaSignature(of: SHA256.hash(token.signed)) ?? []
        },
        .signature("a signature of 65 bytes") { try $0.signature() + [0] },
        .signature("a signature of 63 bytes") { try $0.signature().dropLast() },
        .signature("r and s changed about") { token in
            let signature = try token.signature()
            return Array(signature[32...] + signature[..<32])
        },
        .signature("another transaction's signature") { _ in
            try SignedToken(["quantity": "2"]).signature()
        },
        .signature("somebody else's signature") { try $0.signature(by: .new(.p256)) },
        .signature("a signature by HMAC with the public key") { token in
            let code = try hmacSHA256(token.signed, key: token.chain.signingKey.publicKey.point) ?? []
            return code + code
        },
        SignedCase("megabytes", .tooLarge, text: { String(repeating: "A", count: 10 << 20) }),
        SignedCase(
            "a token with a payload beyond the bound", .tooLarge,
            text: {
                try SignedToken(["x": "\"\(String(repeating: "A", count: SignedTransactionVerifier.maxBytes))\""])
                    .text()
            }),
    ]
}
