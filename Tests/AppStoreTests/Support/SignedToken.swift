import Contract
import Cryptography
import FoundationEssentials

@testable import AppStore

/// Writes signed transactions, each part open to changes. Values are pieces of JSON, so that they can be anything.
struct SignedToken {
    /// A chain and a verifier that trusts it, shared by tests that change neither.
    static let chain = ChainBuilder()

    var chain = SignedToken.chain
    /// In the order written. A name may stand twice.
    var header: [(String, String)] = []
    var payload: [(String, String)] = SignedToken.consumable
    /// Written in place of ``payload``.
    var rawPayload: [UInt8]?
    var rawHeader: [UInt8]?

    static let consumable: [(String, String)] = [
        ("transactionId", "\"2000000000000001\""), ("originalTransactionId", "\"2000000000000001\""),
        ("bundleId", "\"com.example.game\""), ("productId", "\"gems\""), ("purchaseDate", moment(-5)),
        ("originalPurchaseDate", moment(-5)), ("quantity", "1"), ("type", "\"Consumable\""),
        ("inAppOwnershipType", "\"PURCHASED\""), ("signedDate", moment(0)), ("environment", "\"Production\""),
        ("transactionReason", "\"PURCHASE\""), ("storefront", "\"USA\""), ("storefrontId", "\"143441\""),
        ("price", "990"), ("currency", "\"USD\""), ("appTransactionId", "\"704289572311429999\""),
    ]

    /// Milliseconds of a moment so many seconds from now.
    static func moment(_ seconds: Int64) -> String { String(Fixture.now.milliseconds + seconds * 1000) }

    init(chain: ChainBuilder = SignedToken.chain) throws {
        self.chain = chain
        let certificates = try [chain.leafDER(), chain.intermediateDER(), chain.rootDER()]
        header = [("alg", "\"ES256\""), ("x5c", Self.list(certificates.map { Data($0).base64EncodedString() }))]
    }

    /// The usual token with members of its payload changed; nil takes one out.
    init(_ changes: [String: String?]) throws {
        try self.init()
        for (name, json) in changes { payload.set(name, json) }
    }

    var headerPart: String { Self.base64URL(rawHeader ?? Array(Self.object(header).utf8)) }
    var payloadPart: String { Self.base64URL(rawPayload ?? Array(Self.object(payload).utf8)) }

    var signed: [UInt8] { Array("\(headerPart).\(payloadPart)".utf8) }

    /// `r` and `s`.
    func signature(by key: PrivateKey? = nil) throws -> [UInt8] {
        guard let signature = (key ?? chain.signingKey).es256Signature(of: SHA256.hash(signed)) else {
            throw CannotSign()
        }
        return signature
    }

    private struct CannotSign: Error {}

    func text() throws -> String {
        text(signedBy: try signature())
    }

    /// The text with whatever takes the place of its signature.
    func text(signedBy signature: [UInt8]) -> String {
        "\(headerPart).\(payloadPart).\(Self.base64URL(signature))"
    }

    /// The result of a verifier that trusts the chain.
    func verified(now: Timestamp = Fixture.now) throws -> Result<SignedTransaction, SignedTransactionError> {
        let verifier = SignedTransactionVerifier(roots: try chain.roots())
        return try verifier.result(text(), now: now)
    }

    static func list(_ texts: [String]) -> String { "[" + texts.map { "\"\($0)\"" }.joined(separator: ",") + "]" }

    static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    static func base64URL(_ bytes: [UInt8]) -> String {
        String(
            Data(bytes).base64EncodedString().filter { $0 != "=" }
                .map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }
}

extension SignedTransactionVerifier {
    func result(_ text: String, now: Timestamp = Fixture.now) -> Result<SignedTransaction, SignedTransactionError> {
        Result { () throws(SignedTransactionError) in try verify(text, now: now) }
    }
}

extension [(String, String)] {
    /// Replaces a member, appends it, or takes it out.
    mutating func set(_ name: String, _ json: String?) {
        let index = firstIndex { $0.0 == name }
        switch (index, json) {
        case (let index?, let json?): self[index].1 = json
        case (let index?, nil): remove(at: index)
        case (nil, let json?): append((name, json))
        case (nil, nil): break
        }
    }
}

extension Result {
    var value: Success? { try? get() }

    var error: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}

extension SignedTransactionVerifier {
    func verify(_ text: String, now: Timestamp) throws(SignedTransactionError) -> SignedTransaction {
        try verify(EvidenceText(text), now: now)
    }
}
