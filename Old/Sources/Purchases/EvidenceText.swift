/// The text of a receipt or of a signed transaction, in UTF-8: kilobytes that are read several times on their way, and therefore
/// bytes, and a part of the record that they came in rather than a copy.
public struct EvidenceText: Hashable, Sendable, ExpressibleByStringLiteral {
    /// Keeps whatever it is a part of in memory.
    public let bytes: ArraySlice<UInt8>

    /// - Parameter bytes: UTF-8.
    public init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// A copy of a string's bytes.
    public init(_ text: String) { self.init(Array(text.utf8)[...]) }

    public init(stringLiteral text: String) { self.init(text) }

    /// The same text as a copy, which keeps nothing else in memory.
    public var alone: EvidenceText { EvidenceText(Array(bytes)[...]) }

    /// As a string, which is a copy.
    public var string: String { String(decoding: bytes, as: UTF8.self) }
}
