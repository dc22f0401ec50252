public import Contract

/// A row that a driver's query found; columns count from 0.
public protocol RowReader {
    func isNull(_ column: Int32) -> Bool
    /// 0 where it is null.
    func integer(_ column: Int32) -> Int64
    func optionalText(_ column: Int32) -> String?
    /// Empty where it is null.
    func blob(_ column: Int32) -> [UInt8]
}

extension RowReader {
    public func int(_ column: Int32) -> Int { Int(integer(column)) }
    public func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    public func time(_ column: Int32) -> Timestamp { Timestamp(milliseconds: integer(column)) }

    public func optionalTime(_ column: Int32) -> Timestamp? {
        optionalInteger(column).map(Timestamp.init(milliseconds:))
    }

    public func text(_ column: Int32) -> String { optionalText(column) ?? "" }
    public func identifier<Kind>(_ column: Int32) -> Identifier<Kind> { Identifier(text(column)) }

    public func optionalIdentifier<Kind>(_ column: Int32) -> Identifier<Kind>? {
        optionalText(column).map { Identifier($0) }
    }

    /// The claimant, in five columns as ``RowWriter/claimant(_:)`` writes them.
    public func claimant(_ first: Int32) -> Claimant {
        Claimant(
            submissionID: identifier(first + 1), userID: identifier(first + 2), bundleID: identifier(first),
            orderID: optionalIdentifier(first + 3), traceparent: optionalText(first + 4))
    }

    /// A record's place: topic, partition and offset.
    public func origin(_ first: Int32) -> Origin {
        Origin(topic: text(first), partition: Int32(clamping: integer(first + 1)), offset: integer(first + 2))
    }

    /// A column that holds one of a closed set of words; nil for the word of a later version.
    public func word<Word: RawRepresentable<String>>(_ column: Int32) -> Word? { Word(rawValue: text(column)) }
}

extension Environment {
    /// The number of a column.
    public var column: Int64 {
        switch self {
        case .production: 0
        case .sandbox: 1
        }
    }

    /// Nil for the number of a later version.
    public init?(column: Int64) {
        switch column {
        case 0: self = .production
        case 1: self = .sandbox
        default: return nil
        }
    }
}
