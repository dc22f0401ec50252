@testable import AppStore

/// A value in BER with all the values in it: the slow way to read, with which the reader is compared.
struct BERTree: Sendable {
    enum Content: Sendable {
        case constructed([BERTree])
        case primitive(ArraySlice<UInt8>)
    }

    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let contextTag0: UInt8 = 0xa0

    /// The tag's first byte.
    let identifier: UInt8
    let encodedBytes: ArraySlice<UInt8>
    let content: Content

    /// Parses exactly one value, nested no deeper and of no more values than the reader takes; nil for anything else.
    static func parse(_ bytes: ArraySlice<UInt8>) -> BERTree? {
        var rest = bytes
        var count = 0
        guard let tree = take(&rest, depth: 1, &count), rest.isEmpty else { return nil }
        return tree
    }

    private static func take(_ rest: inout ArraySlice<UInt8>, depth: Int, _ count: inout Int) -> BERTree? {
        count += 1
        let start = rest
        guard depth <= BERWalk.maxDepth, count <= BERWalk.maxValues, let identifier = rest.popFirst() else {
            return nil
        }
        if identifier & 0x1f == 0x1f {
            let more = rest.prefix { $0 >= 0x80 }
            guard more.count < 9, more.first != 0x80, let last = rest.dropFirst(more.count).first,
                !more.isEmpty || last >= 0x1f
            else { return nil }
            rest = rest.dropFirst(more.count + 1)
        }
        let isConstructed = identifier & 0x20 != 0
        guard identifier & 0xdf != 0, let short = rest.popFirst() else { return nil }
        var children: [BERTree] = []
        func tree(_ contents: ArraySlice<UInt8>) -> BERTree {
            BERTree(
                identifier: identifier, encodedBytes: start.dropLast(rest.count),
                content: isConstructed ? .constructed(children) : .primitive(contents))
        }
        if short == 0x80 {
            guard isConstructed else { return nil }
            while !rest.starts(with: [0, 0]) {
                guard let child = take(&rest, depth: depth + 1, &count) else { return nil }
                children.append(child)
            }
            rest = rest.dropFirst(2)
            count += 1
            return count <= BERWalk.maxValues ? tree([]) : nil
        }
        var length = UInt64(short)
        if short > 0x80 {
            let bytes = rest.prefix(Int(short & 0x7f))
            guard bytes.count == Int(short & 0x7f), bytes.count <= 8 else { return nil }
            length = bytes.reduce(0) { $0 << 8 | UInt64($1) }
            rest = rest.dropFirst(bytes.count)
        }
        guard length <= UInt64(rest.count) else { return nil }
        let contents = rest.prefix(Int(length))
        rest = rest.dropFirst(Int(length))
        var inside = contents
        while isConstructed, !inside.isEmpty {
            guard let child = take(&inside, depth: depth + 1, &count) else { return nil }
            children.append(child)
        }
        return tree(contents)
    }

    /// The values in a constructed value of the given kind; nil for any other.
    func children(_ identifier: UInt8) -> [BERTree]? {
        guard self.identifier == identifier, case .constructed(let children) = content else { return nil }
        return children
    }

    /// The bytes of an OCTET STRING, joined where BER cut it into pieces; nil for any other value.
    var octets: ArraySlice<UInt8>? {
        guard identifier & 0xdf == Self.octetString else { return nil }
        switch content {
        case .primitive(let bytes): return bytes
        case .constructed(let pieces):
            var joined: [UInt8] = []
            for piece in pieces {
                guard let bytes = piece.octets else { return nil }
                joined += bytes
            }
            return joined[...]
        }
    }

    /// The number of an INTEGER of up to 64 bits; nil for any other value.
    var integer: Int? {
        guard identifier == 0x02, case .primitive(let bytes) = content, (1...8).contains(bytes.count) else {
            return nil
        }
        return bytes.reduce(bytes.first.map { $0 < 0x80 } ?? true ? 0 : -1) { $0 << 8 | Int($1) }
    }
}
