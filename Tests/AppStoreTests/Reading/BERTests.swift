import Scheduling
import Testing

@testable import AppStore

@Suite("BER values")
struct BERValueTests {
    /// The testing library's macros take no spans.
    private func value(_ bytes: [UInt8]) -> BERValue? { BERValue(bytes.span) }

    @Test("finds what is in a value, whatever the form of its lengths")
    func members() throws {
        let form: [[UInt8]] = [
            [0x30, 7, 0x02, 1, 5, 0x04, 2, 8, 9], [0x30, 0x80, 0x02, 1, 5, 0x04, 2, 8, 9, 0, 0],
            [0x30, 0x83, 0, 0, 8, 0x02, 1, 5, 0x04, 0x81, 2, 8, 9],
            [
                0x30, 0x80, 0x02, 0x88, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0x24, 0x80, 0x04, 1, 8, 0x24, 3, 0x04, 1, 9, 0, 0, 0,
                0,
            ],
        ]
        for bytes in form {
            var members = try #require(value(bytes)?.members(BERValue.sequence))
            let number = members.next(in: bytes.span)?.integer(in: bytes.span)
            let octets = members.last(in: bytes.span)?.octets(in: bytes[...])
            #expect(number == 5)
            #expect(octets == [8, 9])
            #expect(members.isEmpty)
        }
    }

    @Test(
        "refuses what is not one well-formed value",
        arguments: [
            [], [0x30], [0x02, 2, 1], [0x02, 1, 1, 1], [0x00, 0], [0x20, 0], [0x02, 0x80, 0, 0], [0x30, 0x80],
            [0x30, 0x80, 0], [0x30, 2, 0, 0], [0x30, 0x80, 0, 1], [0x30, 0x80, 0x30, 0x80, 0, 0],
            [0x30, 3, 0x02, 2, 1],
            [0x30, 3, 0x30, 0x80, 0], [0x02, 0x82, 1], [0x02, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0x02, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0x1f, 0x1e, 0], [0x1f, 0x80, 0x1f, 0],
            [0x1f, 0xff], [0x1f], [0x1f, 0x1f], [0x1f] + [UInt8](repeating: 0xff, count: 9) + [0x7f, 0],
        ] as [[UInt8]])
    func refusals(bytes: [UInt8]) {
        #expect(value(bytes) == nil)
        #expect(BERTree.parse(bytes[...]) == nil)
    }

    @Test(
        "takes tags of many bytes, and none of them for a tag of one",
        arguments: [
            [0x1f, 0x1f, 0], [0x3f, 0x81, 0x11, 0], [0x5f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0],
        ] as [[UInt8]])
    func longTags(bytes: [UInt8]) throws {
        let read = try #require(value(bytes))
        #expect(BERTree.parse(bytes[...]) != nil)
        #expect(read.members(BERValue.set) == nil)
        #expect(read.octets(in: bytes[...]) == nil)
    }

    @Test("goes as deep as a tree and no deeper, with lengths and without")
    func depth() {
        for isIndefinite in [false, true] {
            var nested: [UInt8] = [0x05, 0]
            for depth in 1...60 {
                #expect((value(nested) != nil) == (depth <= BERWalk.maxDepth))
                #expect((BERTree.parse(nested[...]) != nil) == (depth <= BERWalk.maxDepth))
                nested = isIndefinite ? [0x30, 0x80] + nested + [0, 0] : ReceiptBuilder.tlv(0x30, nested)
            }
        }
    }

    @Test("holds as many values as a tree and no more; the end of an indefinite length counts")
    func crowds() {
        let tiny = [[UInt8]](repeating: [0x05, 0], count: BERWalk.maxValues).flatMap { $0 }
        for less in 0...3 {
            let definite = ReceiptBuilder.tlv(0x31, Array(tiny.dropLast(2 * less)))
            let indefinite = [0x31, 0x80] + tiny.dropLast(2 * less) + [0, 0]
            #expect((value(definite) != nil) == (less >= 1))
            #expect((value(indefinite) != nil) == (less >= 2))
            for bytes in [definite, indefinite] {
                #expect((value(bytes) == nil) == (BERTree.parse(bytes[...]) == nil))
            }
        }
    }

    @Test("finds what a tree finds in bytes drawn at random", arguments: 0..<8)
    func random(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let alphabet: [UInt8] = [
            0, 0, 0, 1, 2, 2, 3, 4, 4, 5, 0x1f, 0x24, 0x30, 0x30, 0x31, 0x3f, 0x80, 0x81, 0x82, 0xa0,
        ]
        var taken = 0
        for _ in 0..<5_000 {
            var bytes: [UInt8] = [Bool.random(using: &generator) ? 0x30 : 0x24, 0x80]
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                bytes.append(alphabet.randomElement(using: &generator) ?? 0)
            }
            bytes += [0, 0]
            let node = BERTree.parse(bytes[...])
            let read = value(bytes)
            #expect((read == nil) == (node == nil))
            guard let read, let node else { continue }
            taken += 1
            #expect(isSame(read, node, bytes))
        }
        #expect(taken > 100)
    }

    /// Whether a value and all values in it are as in the tree.
    private func isSame(_ value: BERValue, _ node: BERTree, _ bytes: [UInt8]) -> Bool {
        let number = node.integer
        guard bytes[value.encoded] == node.encodedBytes, value.octets(in: bytes[...]) == node.octets,
            value.integer(in: bytes.span) == number
        else { return false }
        switch node.content {
        case .primitive(let contents):
            return value.members(value.identifier | 0x20) == nil && bytes[value.contents] == contents
        case .constructed(let nodes):
            guard var members = value.members(value.identifier) else { return false }
            for node in nodes {
                guard let member = members.next(in: bytes.span), isSame(member, node, bytes) else { return false }
            }
            return members.isEmpty
        }
    }
}
