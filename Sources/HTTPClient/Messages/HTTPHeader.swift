/// One field of a header section.
public struct HTTPHeader: Sendable, Hashable, CustomStringConvertible {
    /// As written; compared without regard to case.
    public var name: String
    /// Without surrounding white space.
    public var value: String

    /// A field. ``HTTPRequest`` refuses a name or value that cannot be sent.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// The name alone: values carry tokens and signatures.
    public var description: String { name }

    func isNamed(_ other: String) -> Bool {
        name.utf8.count == other.utf8.count && name.lowercased() == other.lowercased()
    }

    /// They decide where a message ends, which is this module's business.
    private static let framing: Set<String> = ["connection", "content-length", "transfer-encoding"]

    /// Refuses a field that would not arrive as it was meant: [RFC 9110, 5.1 and
    /// 5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5). A line break in a value would let its author add fields.
    func validate() throws(HTTPClientError) {
        guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenByte) else {
            throw .invalidRequest("a header's name is not a token")
        }
        guard value.utf8.allSatisfy(\.isFieldByte) else {
            throw .invalidRequest("the value of header \(name) has a control character")
        }
        guard !Self.framing.contains(name.lowercased()) else {
            throw .invalidRequest("header \(name) is set by the client itself")
        }
    }
}

extension UInt8 {
    private static let tokenMarks = Set("!#$%&'*+-.^_`|~".utf8)

    fileprivate var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: Self.tokenMarks.contains(self)
        }
    }

    fileprivate var isFieldByte: Bool { self == UInt8(ascii: "\t") || (self >= 0x20 && self != 0x7F) }
}
