import Scheduling

@testable import AppStore

/// Encodes values again in one of the many forms of BER. Lengths have superfluous bytes or are indefinite. OCTET
/// STRINGs are in pieces, in pieces of pieces, or whole.
struct BERVariation {
    private var generator: SplitMix64

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    /// Another form of bytes that are one value.
    mutating func vary(_ bytes: [UInt8]) -> [UInt8] {
        BERTree.parse(bytes[...]).map { vary($0) } ?? bytes
    }

    private mutating func vary(_ node: BERTree) -> [UInt8] {
        let tag = node.encodedBytes.prefix(1)
        switch node.content {
        case .constructed(let nodes):
            var contents: [UInt8] = []
            for node in nodes { contents += vary(node) }
            return Array(tag) + enclose(contents, isConstructed: true)
        case .primitive(let contents):
            switch node.identifier {
            case BERTree.octetString: return octets(contents, depth: 0)
            // Compared as it is encoded, which is always the shortest way.
            case BERTree.objectIdentifier: return Array(node.encodedBytes)
            default: return Array(tag) + enclose(Array(contents))
            }
        }
    }

    private mutating func octets(_ contents: ArraySlice<UInt8>, depth: Int) -> [UInt8] {
        guard depth < 3, chance(of: 6) else { return [0x04] + enclose(Array(contents)) }
        var pieces: [UInt8] = []
        var rest = contents
        while !rest.isEmpty || chance(of: 4) {
            let piece = rest.prefix(.random(in: 0...max(1, contents.count), using: &generator))
            rest = rest.dropFirst(piece.count)
            pieces += octets(piece, depth: depth + 1)
        }
        return [0x24] + enclose(pieces, isConstructed: true)
    }

    /// A length and contents.
    private mutating func enclose(_ contents: [UInt8], isConstructed: Bool = false) -> [UInt8] {
        if isConstructed, chance(of: 3) { return [0x80] + contents + [0, 0] }
        guard chance(of: 4) else { return Array(ReceiptBuilder.tlv(0, contents).dropFirst()) }
        let length = (0..<8).map { UInt8(truncatingIfNeeded: contents.count >> (56 - 8 * $0)) }
        let needed = max(1, length.drop { $0 == 0 }.count)
        let written = Int.random(in: needed...8, using: &generator)
        return [0x80 | UInt8(written)] + length.suffix(written) + contents
    }

    private mutating func chance(of one: Int) -> Bool {
        Int.random(in: 0..<one, using: &generator) == 0
    }
}
