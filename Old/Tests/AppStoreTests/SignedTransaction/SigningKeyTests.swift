import Crypto
import Foundation
import KeyTables
import Synchronization
import Testing

@testable import AppStore

@Suite("A key that signs many transactions")
struct SigningKeyTests {
    /// Answers what it is told to, and counts how often it was asked.
    private final class ScriptedTable: SignatureTable {
        let answer: KeyTable.Answer
        let asked = Mutex(0)

        init(_ answer: KeyTable.Answer) { self.answer = answer }

        func check(_ signature: [UInt8], of digest: [UInt8]) -> KeyTable.Answer {
            asked.withLock { $0 += 1 }
            return answer
        }
    }

    private let trust = TableTrust()
    private let secret = P256.Signing.PrivateKey()
    private let content = Array("header.payload".utf8)

    private func signature(by key: P256.Signing.PrivateKey? = nil) throws -> [UInt8] {
        Array(try (key ?? secret).signature(for: Data(content)).rawRepresentation)
    }

    private func key(_ table: ScriptedTable?) -> SigningKey {
        SigningKey(key: secret.publicKey, validity: ChainBuilder.start...ChainBuilder.end, trust: trust) { _ in table }
    }

    /// Checks good signatures until a table is made.
    private func warm(_ key: SigningKey) throws {
        let signature = try signature()
        for _ in 0...SigningKey.checksBeforeTable { #expect(key.signed(content[...], signature)) }
    }

    @Test("a table is made once the key came often, and not before")
    func made() throws {
        let table = ScriptedTable(.holds)
        let key = key(table)
        try warm(key)
        #expect(table.asked.withLock { $0 } == 0)
        #expect(key.signed(content[...], try signature()))
        #expect(table.asked.withLock { $0 } == 1)
    }

    @Test("with the real table good signatures hold and others do not")
    func real() throws {
        let key = SigningKey(key: secret.publicKey, validity: ChainBuilder.start...ChainBuilder.end, trust: trust)
        try warm(key)
        for _ in 0..<50 { #expect(key.signed(content[...], try signature())) }
        #expect(!key.signed(content[...], try signature(by: P256.Signing.PrivateKey())))
        #expect(!key.signed(content.dropLast(), try signature()))
        #expect(!trust.isLost)
    }

    @Test(
        "what the table does not confirm swift-crypto decides: no good signature is lost",
        arguments: [
            KeyTable.Answer.doesNotHold, .unknown,
        ])
    func denied(answer: KeyTable.Answer) throws {
        let table = ScriptedTable(answer)
        let key = key(table)
        try warm(key)
        #expect(key.signed(content[...], try signature()))
        #expect(!key.signed(content[...], try signature(by: P256.Signing.PrivateKey())))
        #expect(table.asked.withLock { $0 } == 2)
    }

    @Test(
        "a table that confirms what swift-crypto denies is caught at its first answer and by the sample, and never asked again"
    )
    func caught() throws {
        let table = ScriptedTable(.holds)
        let key = key(table)
        try warm(key)
        let forged = try signature(by: P256.Signing.PrivateKey())
        #expect(!key.signed(content[...], forged))
        #expect(trust.isLost)
        #expect(!key.signed(content[...], forged))
        #expect(key.signed(content[...], try signature()))
        #expect(table.asked.withLock { $0 } == 1)
    }

    @Test("once a table is caught no other is asked, and none is made")
    func caughtElsewhere() throws {
        let table = ScriptedTable(.holds)
        let (asked, late) = (key(table), key(table))
        try warm(asked)
        trust.lose()
        try warm(late)
        let forged = try signature(by: P256.Signing.PrivateKey())
        #expect(!asked.signed(content[...], forged))
        #expect(!late.signed(content[...], forged))
        #expect(table.asked.withLock { $0 } == 0)
    }

    @Test("of what the table confirms a sample is looked at")
    func sampled() throws {
        let table = ScriptedTable(.holds)
        let key = key(table)
        try warm(key)
        let good = try signature()
        for _ in 0..<SigningKey.sample { #expect(key.signed(content[...], good)) }
        #expect(!key.signed(content[...], try signature(by: P256.Signing.PrivateKey())))
        #expect(trust.isLost)
    }

    @Test("where no table can be made swift-crypto decides")
    func none() throws {
        let key = key(nil)
        try warm(key)
        #expect(key.signed(content[...], try signature()))
        #expect(!key.signed(content[...], try signature(by: P256.Signing.PrivateKey())))
        #expect(!trust.isLost)
    }

    @Test("what is no signature signs nothing, with a table and without", arguments: [0, 63, 65])
    func lengths(count: Int) throws {
        let key = SigningKey(key: secret.publicKey, validity: ChainBuilder.start...ChainBuilder.end, trust: trust)
        #expect(!key.signed(content[...], [UInt8](repeating: 1, count: count)))
        try warm(key)
        #expect(!key.signed(content[...], [UInt8](repeating: 1, count: count)))
    }
}
