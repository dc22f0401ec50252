import Crypto

/// UUIDs made from names (RFC 9562, version 5): the same name gives the same UUID, everywhere and for ever.
public enum NameBasedUUID {
    /// Namespace of grant ids.
    public static let grants = bytes(namespace: grantor, name: "grants")
    /// Namespace of event ids.
    public static let events = bytes(namespace: grantor, name: "events")

    /// The UUID of a name in a namespace, in lower-case text form.
    public static func text(namespace: [UInt8], name: String) -> String {
        let hex = bytes(namespace: namespace, name: name).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }
        let groups = [hex[0..<4], hex[4..<6], hex[6..<8], hex[8..<10], hex[10..<16]]
        return groups.map { $0.joined() }.joined(separator: "-")
    }

    private static func bytes(namespace: [UInt8], name: String) -> [UInt8] {
        var hash = Insecure.SHA1()
        hash.update(data: namespace)
        hash.update(data: Array(name.utf8))
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x50
        bytes[8] = bytes[8] & 0x3f | 0x80
        return bytes
    }

    /// Drawn at random once; it sets Grantor's names apart from everybody else's.
    private static let grantor: [UInt8] = [
        0x7c, 0x1f, 0x5e, 0x0b, 0x92, 0xd4, 0x4a, 0x6e, 0xb3, 0x58, 0x0d, 0x47, 0xe1, 0x9a, 0x26, 0xcf,
    ]
}
