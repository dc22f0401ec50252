internal import Cryptography

/// UUIDs made from names (RFC 9562, version 5): the same name gives the same UUID, everywhere and for ever.
public enum NameBasedUUID {
    /// Namespace of grant ids.
    public static let grants = bytes(namespace: grantor, name: "grants")
    /// Namespace of event ids.
    public static let events = bytes(namespace: grantor, name: "events")

    /// The UUID of a name in a namespace, in lower-case text form.
    public static func text(namespace: [UInt8], name: String) -> String {
        digest(namespace: namespace, name: name).withUnsafeBytes { digest in
            String(unsafeUninitializedCapacity: 36) { text in
                var end = 0
                for index in 0..<16 {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        text[end] = UInt8(ascii: "-")
                        end += 1
                    }
                    let byte = byte(index, of: digest[index])
                    text[end] = Hexadecimal.digit(byte >> 4)
                    text[end + 1] = Hexadecimal.digit(byte & 0x0f)
                    end += 2
                }
                return end
            }
        }
    }

    private static func bytes(namespace: [UInt8], name: String) -> [UInt8] {
        digest(namespace: namespace, name: name).withUnsafeBytes { digest in
            (0..<16).map { byte($0, of: digest[$0]) }
        }
    }

    private static func digest(namespace: [UInt8], name: String) -> SHA1Digest {
        var input: [UInt8] = []
        input.reserveCapacity(namespace.count + name.utf8.count)
        input.append(contentsOf: namespace)
        input.append(contentsOf: name.utf8)
        return SHA1.hash(input)
    }

    /// A byte of the UUID: the digest's, with the version and the variant over it.
    private static func byte(_ index: Int, of byte: UInt8) -> UInt8 {
        switch index {
        case 6: byte & 0x0f | 0x50
        case 8: byte & 0x3f | 0x80
        default: byte
        }
    }

    /// Drawn at random once; it sets Grantor's names apart from everybody else's.
    private static let grantor: [UInt8] = [
        0x7c, 0x1f, 0x5e, 0x0b, 0x92, 0xd4, 0x4a, 0x6e, 0xb3, 0x58, 0x0d, 0x47, 0xe1, 0x9a, 0x26, 0xcf,
    ]
}
