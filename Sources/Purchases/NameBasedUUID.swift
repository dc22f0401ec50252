import Crypto

/// UUIDs made from names (RFC 9562, version 5): the same name gives the same UUID, everywhere and for ever.
public enum NameBasedUUID {
    /// Namespace of grant ids.
    public static let grants = bytes(namespace: grantor, name: "grants")
    /// Namespace of event ids.
    public static let events = bytes(namespace: grantor, name: "events")

    /// The UUID of a name in a namespace, in lower-case text form.
    public static func text(namespace: [UInt8], name: String) -> String {
        let bytes = bytes(namespace: namespace, name: name)
        return String(unsafeUninitializedCapacity: 36) { text in
            var end = 0
            for (index, byte) in bytes.enumerated() {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    text[end] = UInt8(ascii: "-")
                    end += 1
                }
                text[end] = Hexadecimal.digit(byte >> 4)
                text[end + 1] = Hexadecimal.digit(byte & 0x0f)
                end += 2
            }
            return end
        }
    }

    private static func bytes(namespace: [UInt8], name: String) -> [UInt8] {
        var bytes = Array(Insecure.SHA1.hash(data: namespace + name.utf8).prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x50
        bytes[8] = bytes[8] & 0x3f | 0x80
        return bytes
    }

    /// Drawn at random once; it sets Grantor's names apart from everybody else's.
    private static let grantor: [UInt8] = [
        0x7c, 0x1f, 0x5e, 0x0b, 0x92, 0xd4, 0x4a, 0x6e, 0xb3, 0x58, 0x0d, 0x47, 0xe1, 0x9a, 0x26, 0xcf,
    ]
}
