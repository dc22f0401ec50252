internal import Cryptography

/// A text that identifies something. The compiler tells identifiers of different things apart.
///
/// The text is kept as it came; readers of outside data check its form first. Two identifiers are equal if their bytes
/// are, as in the ledgers and on Kafka. Swift's strings are equal if their characters are equivalent in Unicode. To
/// them `com.example.\u{212A}art`, with the sign for Kelvin, is `com.example.Kart`.
public struct Identifier<Kind>: Hashable, Sendable, Comparable, Codable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    public let rawValue: String

    public init(_ rawValue: String) { self.rawValue = rawValue }

    public init(stringLiteral value: String) { self.init(value) }

    public var description: String { rawValue }

    public static func == (left: Self, right: Self) -> Bool {
        // Spans, because a string's iterator takes five times as long, and every map of work under way compares these.
        let (left, right) = (left.rawValue.utf8.span, right.rawValue.utf8.span)
        guard left.count == right.count else { return false }
        for place in left.indices where left[place] != right[place] { return false }
        return true
    }

    public static func < (left: Self, right: Self) -> Bool {
        let (left, right) = (left.rawValue.utf8.span, right.rawValue.utf8.span)
        for place in 0..<min(left.count, right.count) where left[place] != right[place] {
            return left[place] < right[place]
        }
        return left.count < right.count
    }
}

/// The kinds of ``Identifier``. None has a value.
public enum IdentifierKind {
    public enum OfSubmission {}
    public enum OfUser {}
    public enum OfBundle {}
    public enum OfOrder {}
    public enum OfProduct {}
    public enum OfTransaction {}
    public enum OfGrant {}
    public enum OfEvent {}
}

/// The producer's own idempotency key of a submission: 1-128 of `[A-Za-z0-9._:-]`.
public typealias SubmissionID = Identifier<IdentifierKind.OfSubmission>
/// The platform's account that claims a purchase: 1-128 characters.
public typealias UserID = Identifier<IdentifierKind.OfUser>
/// An app's bundle identifier, such as `com.example.game`.
public typealias BundleID = Identifier<IdentifierKind.OfBundle>
/// The platform's order that a submission belongs to.
public typealias OrderID = Identifier<IdentifierKind.OfOrder>
/// A product identifier as set up in App Store Connect.
public typealias ProductID = Identifier<IdentifierKind.OfProduct>
/// Apple's identifier of a transaction: 1-20 digits, the first of which is no zero.
public typealias TransactionID = Identifier<IdentifierKind.OfTransaction>
/// A grant's identifier: the UUIDv5 of its key.
public typealias GrantID = Identifier<IdentifierKind.OfGrant>
/// An event's identifier, derived from its content, so that it never changes.
public typealias EventID = Identifier<IdentifierKind.OfEvent>

extension TransactionID {
    /// The id that a text stands for, whoever wrote it: Apple, a producer or a person. Zeros in front do not count, see
    /// ``DigitText``. A text of zeros only becomes an id that is not well formed.
    public init(reading text: String) { self.init(DigitText.withoutLeadingZeros(text) ?? "0") }

    /// The id that somebody asks for. White space around it does not count, as in a submission.
    public init(asked text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        self.init(reading: words.count == 1 ? String(words[0]) : text)
    }

    /// Whether it can be one of Apple's, which are 1 to 20 ASCII digits: it may then go into a URL path as it is. An id
    /// that begins with a zero was not read by ``init(reading:)``, or is no id.
    public var isWellFormed: Bool {
        rawValue.utf8.first != UInt8(ascii: "0") && DigitText.isDigits(rawValue, atMost: 20)
    }
}

/// Ids that are numbers, in the one form that grant keys are made of. Zeros in front make no other number. Zero itself
/// is no id: all purchases with it would count as one.
public enum DigitText {
    /// The id that a text stands for; nil for zeros only. A text that is no number stays as it is.
    public static func withoutLeadingZeros(_ text: String) -> String? {
        guard text.utf8.first == UInt8(ascii: "0"), isDigits(text, atMost: .max) else { return text }
        let digits = text.drop { $0 == "0" }
        return digits.isEmpty ? nil : String(digits)
    }

    /// Whether a text is ASCII digits alone, at least one and at most so many.
    public static func isDigits(_ text: String, atMost longest: Int) -> Bool {
        (1...longest).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// UUIDs made from names (RFC 9562, version 5): the same name gives the same UUID, everywhere and for ever.
public enum NameBasedUUID {
    public static let grants = bytes(namespace: grantor, name: "grants")
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

    private static func digest(namespace: [UInt8], name: String) -> [UInt8] {
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
