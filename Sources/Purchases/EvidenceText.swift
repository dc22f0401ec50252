/// The text of a receipt or of a signed transaction, in UTF-8: kilobytes that are read several times on their way, and therefore
/// bytes, and a part of the record that they came in rather than a copy.
public struct EvidenceText: Hashable, Sendable, ExpressibleByStringLiteral {
    /// Keeps whatever it is a part of in memory.
    public let bytes: ArraySlice<UInt8>

    /// - Parameter bytes: UTF-8.
    public init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// A text of its own.
    public init(_ text: String) { self.init(Array(text.utf8)[...]) }

    /// A text of its own.
    public init(stringLiteral text: String) { self.init(text) }

    /// As a string, which is a copy.
    public var string: String { String(decoding: bytes, as: UTF8.self) }
}
