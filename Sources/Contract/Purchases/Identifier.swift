/// A text that names one thing, told apart by the compiler from texts that name others.
///
/// The text is kept as it came; whoever reads it from outside checks its form first. Two are the same if their bytes
/// are, as in the ledgers and on Kafka. Swift's strings are the same if they mean the same characters to Unicode: to
/// them `com.example.\u{212A}art`, with the sign for Kelvin, is `com.example.Kart`.
public struct Identifier<Kind>: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The text itself.
    public let rawValue: String

    /// Wraps a text without changing or checking it.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
        self.init(value)
    }

    public var description: String { rawValue }

    public static func == (left: Self, right: Self) -> Bool {
        // Spans, because a string's iterator takes five times as long, and every map of what is under way compares
        // these.
        let (left, right) = (left.rawValue.utf8.span, right.rawValue.utf8.span)
        guard left.count == right.count else { return false }
        for place in left.indices where left[place] != right[place] { return false }
        return true
    }

    /// By their bytes.
    public static func < (left: Self, right: Self) -> Bool {
        let (left, right) = (left.rawValue.utf8.span, right.rawValue.utf8.span)
        for place in 0..<min(left.count, right.count) where left[place] != right[place] {
            return left[place] < right[place]
        }
        return left.count < right.count
    }
}

/// Kind of ``SubmissionID``.
public enum SubmissionKind {}
/// Kind of ``UserID``.
public enum UserKind {}
/// Kind of ``BundleID``.
public enum BundleKind {}
/// Kind of ``OrderID``.
public enum OrderKind {}
/// Kind of ``ProductID``.
public enum ProductKind {}
/// Kind of ``TransactionID``.
public enum TransactionKind {}
/// Kind of ``GrantID``.
public enum GrantKind {}
/// Kind of ``EventID``.
public enum EventKind {}

/// The producer's own idempotency key of a submission: 1-128 of `[A-Za-z0-9._:-]`.
public typealias SubmissionID = Identifier<SubmissionKind>
/// The platform's account that claims a purchase: 1-128 characters.
public typealias UserID = Identifier<UserKind>
/// An app's bundle identifier, such as `com.example.game`.
public typealias BundleID = Identifier<BundleKind>
/// The platform's order that a submission belongs to.
public typealias OrderID = Identifier<OrderKind>
/// A product identifier as set up in App Store Connect.
public typealias ProductID = Identifier<ProductKind>
/// Apple's identifier of a transaction: 1-20 digits.
public typealias TransactionID = Identifier<TransactionKind>
/// A grant's identifier: the UUIDv5 of its key.
public typealias GrantID = Identifier<GrantKind>
/// An event's identifier, derived from what it tells, so that it never changes.
public typealias EventID = Identifier<EventKind>
