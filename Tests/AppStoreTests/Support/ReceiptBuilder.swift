/// Writes receipts in DER, or in BER with indefinite lengths, byte by byte. Unsigned: the reader does not look there.
struct ReceiptBuilder: Sendable {
    typealias Attribute = (type: Int, value: [UInt8])

    static let signedData: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
    static let data: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
    static let certificates = tlv(0xa0, tlv(0x30, [0x02, 0x01, 0x07]))
    static let signers = tlv(0x31, tlv(0x30, [0x02, 0x01, 0x01]))

    var attributes: [Attribute] = []

    /// A receipt with what most have.
    static func receipt(
        bundleID: String = "com.example.game", origin: String = "Production", purchases: [[Attribute]] = []
    ) -> ReceiptBuilder {
        ReceiptBuilder(
            attributes: [
                (0, utf8(origin)), (1, integer(1_234_567_890)), (2, utf8(bundleID)), (3, utf8("7")), (4, [1, 2, 3]),
                (12, ia5("2026-11-21T04:59:13Z")), (18, ia5("2013-08-01T07:00:00Z")), (19, utf8("1.0")),
            ] + purchases.map { (17, set($0)) })
    }

    /// A purchase as Apple writes it: with an empty cancellation date.
    static func purchase(
        transactionID: String = "1000000000000001", productID: String = "com.example.game.gems100",
        cancelled: String = ""
    ) -> [Attribute] {
        [
            (1701, integer(3)), (1702, utf8(productID)), (1703, utf8(transactionID)),
            (1704, ia5("2026-11-21T04:59:02Z")), (1705, utf8("1000000000000000")), (1706, ia5("2026-11-20T04:59:02Z")),
            (1708, ia5("2026-12-21T04:59:02Z")), (1711, integer(2_000_000_044_444_444)), (1712, ia5(cancelled)),
            (1719, integer(1)),
        ]
    }

    var payload: [UInt8] { Self.set(attributes) }

    /// `SEQUENCE { OID, [0] SEQUENCE { version, digests, content, certificates, signers } }`.
    var der: [UInt8] { Self.envelope(payload) }

    static func envelope(_ payload: [UInt8], oid: [UInt8] = signedData) -> [UInt8] {
        let content = tlv(0x30, data + tlv(0xa0, tlv(0x04, payload)))
        let members = [0x02, 0x01, 0x01] + tlv(0x31, []) + content + certificates + signers
        return tlv(0x30, oid + tlv(0xa0, tlv(0x30, members)))
    }

    /// The same with indefinite lengths, the content cut in two, and one OCTET STRING more around the set.
    var ber: [UInt8] {
        let wrapped = Self.tlv(0x04, payload)
        let half = wrapped.count / 2
        let pieces = Self.tlv(0x04, Array(wrapped[..<half])) + Self.tlv(0x04, Array(wrapped[half...]))
        let content = Self.open(0x30, Self.data + Self.open(0xa0, Self.open(0x24, pieces)))
        let members = [0x02, 0x01, 0x01] + Self.tlv(0x31, []) + content + Self.certificates + Self.signers
        return Self.open(0x30, Self.signedData + Self.open(0xa0, Self.open(0x30, members)))
    }

    static func set(_ attributes: [Attribute]) -> [UInt8] {
        tlv(0x31, attributes.flatMap { tlv(0x30, integer($0.type) + integer(1) + tlv(0x04, $0.value)) })
    }

    static func utf8(_ text: String) -> [UInt8] { tlv(0x0c, Array(text.utf8)) }
    static func ia5(_ text: String) -> [UInt8] { tlv(0x16, Array(text.utf8)) }

    static func integer(_ value: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = value
        repeat {
            bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        } while rest > 0
        return tlv(0x02, bytes[0] & 0x80 == 0 ? bytes : [0] + bytes)
    }

    static func tlv(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        guard contents.count > 127 else { return [tag, UInt8(contents.count)] + contents }
        let length = (0..<4).map { UInt8(truncatingIfNeeded: contents.count >> (24 - 8 * $0)) }
        let significant = Array(length.drop { $0 == 0 })
        return [tag, 0x80 | UInt8(significant.count)] + significant + contents
    }

    private static func open(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] { [tag, 0x80] + contents + [0, 0] }
}
