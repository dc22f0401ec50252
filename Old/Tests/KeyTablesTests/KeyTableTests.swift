import Crypto
import Foundation
import Testing

@testable import KeyTables

@Suite("Signatures checked with a key's table")
struct KeyTableTests {
    private let key = P256.Signing.PrivateKey()

    private func table() throws -> KeyTable { try #require(KeyTable(key: key.publicKey.rawRepresentation)) }

    @Test("what swift-crypto signed holds, for any content")
    func good() throws {
        let table = try table()
        for number in 0..<500 {
            let digest = SHA256.hash(data: Data("content \(number)".utf8))
            let signature = try key.signature(for: digest)
            #expect(table.check(Array(signature.rawRepresentation), of: Array(digest)) == .holds)
        }
    }

    @Test("with any bit of signature or content changed it answers what swift-crypto does")
    func changed() throws {
        let table = try table()
        let digest = Array(SHA256.hash(data: Data("content".utf8)))
        let signature = Array(try key.signature(for: RawDigest(digest)).rawRepresentation)
        for bit in 0..<512 {
            var other = signature
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(agrees(table, key.publicKey, other, digest) == .doesNotHold)
        }
        for bit in 0..<256 {
            var other = digest
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(agrees(table, key.publicKey, signature, other) == .doesNotHold)
        }
    }

    @Test("another key's signature does not hold")
    func otherKey() throws {
        let digest = Array(SHA256.hash(data: Data("content".utf8)))
        let signature = Array(try P256.Signing.PrivateKey().signature(for: RawDigest(digest)).rawRepresentation)
        #expect(agrees(try table(), key.publicKey, signature, digest) == .doesNotHold)
    }

    @Test("the second form that each signature has holds, too")
    func negated() throws {
        let digest = Array(SHA256.hash(data: Data("content".utf8)))
        let signature = Array(try key.signature(for: RawDigest(digest)).rawRepresentation)
        let negated = Array(signature[..<32]) + Self.subtract(Array(signature[32...]), from: Curve.order)
        #expect(agrees(try table(), key.publicKey, negated, digest) == .holds)
    }

    @Test("numbers at the edges of the group answer what swift-crypto does, with keys at the edges, too")
    func edges() throws {
        let zero = [UInt8](repeating: 0, count: 32)
        let most = [UInt8](repeating: 0xFF, count: 32)
        let one = Self.number(1)
        let numbers = [
            zero, one, Self.number(2), Self.number(5), Self.subtract(one, from: Curve.order), Curve.order,
            Self.subtract(Self.number(5), from: Curve.order), Self.add(1, to: Curve.order), most,
        ]
        // The base point itself, its negative, and its double: sums of equal points, and of opposite ones.
        for secret in [one, Self.subtract(one, from: Curve.order), Self.number(2)] {
            let key = try P256.Signing.PrivateKey(rawRepresentation: secret).publicKey
            let table = try #require(KeyTable(key: key.rawRepresentation))
            var answers: [KeyTable.Answer: Int] = [:]
            for r in numbers {
                for s in numbers {
                    for digest in numbers { answers[agrees(table, key, r + s, digest), default: 0] += 1 }
                }
            }
            #expect(answers[.unknown] == nil)
            #expect(answers.values.reduce(0, +) == numbers.count * numbers.count * numbers.count)
        }
    }

    @Test("an abscissa between the group's order and the field's counts as what is left of it")
    func largeAbscissa() throws {
        // With the digest 0 and `r` equal to `s` the point of the equation is the key itself.
        var found = 0
        for left in UInt8(1)...100 {
            let abscissa = Self.add(left, to: Curve.order)
            guard let key = try? P256.Signing.PublicKey(compressedRepresentation: [2] + abscissa) else { continue }
            let table = try #require(KeyTable(key: key.rawRepresentation))
            let digest = [UInt8](repeating: 0, count: 32)
            let signature = Self.number(left) + Self.number(left)
            // What an earlier check left behind must not stand in for a 0.
            let earlier = [UInt8](repeating: 0xA5, count: 32)
            #expect(agrees(table, key, earlier + earlier, earlier) == .doesNotHold)
            #expect(agrees(table, key, signature, digest) == .holds)
            #expect(agrees(table, key, Self.number(left + 1) + Self.number(left + 1), digest) == .doesNotHold)
            found += 1
            if found == 3 { break }
        }
        #expect(found == 3)
    }

    @Test("what has the wrong length is no signature and no digest")
    func lengths() throws {
        let table = try table()
        let digest = Array(SHA256.hash(data: Data("content".utf8)))
        let signature = Array(try key.signature(for: RawDigest(digest)).rawRepresentation)
        #expect(table.check([], of: digest) == .doesNotHold)
        #expect(table.check(Array(signature.dropLast()), of: digest) == .doesNotHold)
        #expect(table.check(signature + [0], of: digest) == .doesNotHold)
        #expect(table.check(signature, of: []) == .doesNotHold)
        #expect(table.check(signature, of: digest + [0]) == .doesNotHold)
    }

    @Test("what is no point of the curve is no key")
    func noKey() {
        var off = Array(key.publicKey.rawRepresentation)
        off[63] ^= 1
        #expect(KeyTable(key: off) == nil)
        #expect(KeyTable(key: []) == nil)
        #expect(KeyTable(key: key.publicKey.x963Representation) == nil)
        #expect(KeyTable(key: [UInt8](repeating: 0, count: 64)) == nil)
        #expect(KeyTable(key: [UInt8](repeating: 0xFF, count: 64)) == nil)
    }

    @Test("many tasks at once get what one would")
    func concurrent() async throws {
        let table = try table()
        let signed = try (0..<16).map { number in
            let digest = Array(SHA256.hash(data: Data("content \(number)".utf8)))
            return (digest, Array(try key.signature(for: RawDigest(digest)).rawRepresentation))
        }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<400).allSatisfy { round in
                        let (digest, signature) = signed[round % 16]
                        let other = signed[(round + 1) % 16].0
                        return table.check(signature, of: digest) == .holds
                            && table.check(signature, of: other) == .doesNotHold
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    /// The table's answer, which has to be swift-crypto's.
    private func agrees(
        _ table: KeyTable, _ key: P256.Signing.PublicKey, _ signature: [UInt8], _ digest: [UInt8],
        at location: SourceLocation = #_sourceLocation
    ) -> KeyTable.Answer {
        let answer = table.check(signature, of: digest)
        let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        let holds = parsed.map { key.isValidSignature($0, for: RawDigest(digest)) } ?? false
        #expect(answer == (holds ? .holds : .doesNotHold), sourceLocation: location)
        return answer
    }

    private static func number(_ value: UInt8) -> [UInt8] { [UInt8](repeating: 0, count: 31) + [value] }

    private static func add(_ value: UInt8, to number: [UInt8]) -> [UInt8] {
        var sum = number
        var carry = Int(value)
        for index in sum.indices.reversed() {
            carry += Int(sum[index])
            sum[index] = UInt8(carry & 0xFF)
            carry >>= 8
        }
        return sum
    }

    private static func subtract(_ value: [UInt8], from number: [UInt8]) -> [UInt8] {
        var difference = number
        var borrow = 0
        for index in difference.indices.reversed() {
            let left = Int(difference[index]) - Int(value[index]) - borrow
            difference[index] = UInt8(left & 0xFF)
            borrow = left < 0 ? 1 : 0
        }
        return difference
    }
}

/// A digest of any 32 bytes: what is signed need not come from a hash here.
private struct RawDigest: Digest {
    static let byteCount = 32
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func makeIterator() -> [UInt8].Iterator { bytes.makeIterator() }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    var description: String { "a digest" }
}
