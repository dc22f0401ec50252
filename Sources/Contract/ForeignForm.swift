/// The form of a record that is no JSON object, where its first bytes show it. The raw values are reasons of
/// quarantine, and say whose setting is to be changed.
public enum ForeignForm: String, Hashable, Sendable {
    /// A zero byte and the four bytes of a schema's id, then JSON: serializers of schema registries write them.
    case registeredJSON = "five bytes of a schema registry stand before the JSON"
    /// The same before something else, such as Avro or Protobuf.
    case registered = "it begins with a zero byte, as serializers of schema registries write, and holds no JSON"
    case gzip = "compressed with gzip"
    case zstd = "compressed with zstd"
    case avro = "an Avro file"
    case utf16 = "UTF-16, not UTF-8"
    case encodedTwice = "JSON in a JSON string: it was encoded twice"

    /// Of a value that ``StrictJSON`` does not take; nil where the first bytes show nothing.
    init?(_ value: [UInt8]) {
        let brace = UInt8(ascii: "{")
        func begins(_ bytes: UInt8...) -> Bool { value.starts(with: bytes) }
        if begins(0xFF, 0xFE) || begins(0xFE, 0xFF) || begins(brace, 0) || begins(0, brace) {
            self = .utf16
        } else if begins(0), value.count > 5 {
            self = value[5] == brace ? .registeredJSON : .registered
        } else if begins(0x1F, 0x8B) {
            self = .gzip
        } else if begins(0x28, 0xB5, 0x2F, 0xFD) {
            self = .zstd
        } else if value.starts(with: "Obj\u{1}".utf8) {
            self = .avro
        } else if begins(UInt8(ascii: "\"")) {
            self = .encodedTwice
        } else {
            return nil
        }
    }
}
