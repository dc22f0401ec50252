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
    /// 0 where it is null.
    public func int(_ column: Int32) -> Int { Int(integer(column)) }
    /// Nil where it is null.
    public func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    /// The moment in a column of milliseconds since 1970.
    public func time(_ column: Int32) -> Timestamp { Timestamp(milliseconds: integer(column)) }
    /// Empty where it is null.
    public func text(_ column: Int32) -> String { optionalText(column) ?? "" }
    /// An id, whose text is empty where the column is null. Its form is not checked.
    public func identifier<Kind>(_ column: Int32) -> Identifier<Kind> { Identifier(text(column)) }
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
