@testable import AppStore

/// The contents of a receipt, read from a tree of all its values: the slow way, with which the reader is compared.
struct ReceiptByTree: Equatable {
    struct Attribute: Equatable {
        let type: Int
        let value: ArraySlice<UInt8>
    }

    let contentType: ArraySlice<UInt8>
    let payload: ArraySlice<UInt8>
    let certificates: ArraySlice<UInt8>?
    let signerInfos: ArraySlice<UInt8>?
    let attributes: [Attribute]
    /// The attributes of each attribute 17; nil for one that is no set.
    let purchases: [[Attribute]?]

    init(tree bytes: [UInt8]) throws(AppReceiptError) {
        guard let envelope = BERTree.parse(bytes[...]) else { throw .notASN1 }
        guard let parts = envelope.children(BERTree.sequence), parts.count == 2,
            parts[0].identifier == BERTree.objectIdentifier,
            parts[0].encodedBytes.elementsEqual(ReceiptBuilder.signedData),
            let wrapped = parts[1].children(BERTree.contextTag0), wrapped.count == 1,
            let members = wrapped[0].children(BERTree.sequence), members.count >= 3,
            let content = members[2].children(BERTree.sequence), content.count == 2,
            let octets = content[1].children(BERTree.contextTag0), octets.count == 1,
            let payload = octets[0].octets
        else { throw .notSignedData }
        contentType = content[0].encodedBytes
        self.payload = payload
        certificates = members.dropFirst(3).first { $0.identifier & 0xdf == 0x80 }?.encodedBytes
        signerInfos = members.dropFirst(3).last { $0.identifier & 0xdf == 0x11 }?.encodedBytes
        guard let node = BERTree.parse(payload),
            let attributes = Self.attributes(node.octets.flatMap(BERTree.parse) ?? node)
        else { throw .notReceiptAttributes }
        self.attributes = attributes
        purchases = attributes.filter { $0.type == 17 }.map { BERTree.parse($0.value).flatMap(Self.attributes) }
    }

    private static func attributes(_ node: BERTree) -> [Attribute]? {
        node.children(BERTree.set)?.compactMap { member in
            guard let parts = member.children(BERTree.sequence), parts.count == 3, let value = parts[2].octets
            else { return nil }
            return parts[0].integer.map { Attribute(type: $0, value: value) }
        }
    }
}

extension ReceiptByTree {
    /// The same as the reader gives it.
    init(read bytes: [UInt8]) throws(AppReceiptError) {
        let data = try SignedData(ber: bytes)
        let attributes = try ReceiptAttributes(receiptPayload: data.payload)
        contentType = data.contentType
        payload = data.payload
        certificates = data.certificates
        signerInfos = data.signerInfos
        self.attributes = Self.attributes(attributes)
        purchases = attributes.values(17).map { ReceiptAttributes(set: $0).map(Self.attributes) }
    }

    private static func attributes(_ read: ReceiptAttributes) -> [Attribute] {
        read.list.map { Attribute(type: $0.type, value: $0.value.bytes(in: read.bytes)) }
    }
}
