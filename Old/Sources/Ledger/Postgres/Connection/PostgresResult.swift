internal import CLibpq
import Purchases

/// What the server answered to one command, values in binary form.
///
/// Owns libpq's memory; stays on the connection's thread.
final class PostgresResult {
    private let result: OpaquePointer

    /// Takes the result over.
    init(_ result: OpaquePointer) {
        self.result = result
    }

    deinit {
        PQclear(result)
    }

    var status: ExecStatusType { PQresultStatus(result) }

    var rowCount: Int32 { PQntuples(result) }

    /// How many rows a statement wrote; 0 for one that writes none.
    var affected: Int {
        PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// The command's name as the server says it, `COMMIT` for one that took place.
    var tag: String {
        PQcmdStatus(result).map { String(cString: $0) } ?? ""
    }

    /// Reads all rows.
    func rows<Value>(
        _ read: (PostgresRow) throws(PostgresFailure) -> Value
    ) throws(PostgresFailure) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(Int(rowCount))
        for index in 0..<rowCount { values.append(try read(PostgresRow(result: result, index: index))) }
        return values
    }

    /// The error's SQLSTATE; nil for one of the connection's.
    var state: String? {
        field("C")
    }

    /// The error for people, without values.
    ///
    /// Data exceptions quote the data, and violated constraints the rows: of these only names are told.
    var message: String {
        let state = state ?? ""
        guard state.hasPrefix("22") || state.hasPrefix("23") else { return field("M")?.firstLine ?? "no message" }
        let names = ["t", "n"].compactMap(field)
        return names.isEmpty ? "a value was refused" : "a value was refused by \(names.joined(separator: ", "))"
    }

    private func field(_ code: Character) -> String? {
        guard let ascii = code.asciiValue, let text = PQresultErrorField(result, CInt(ascii)) else { return nil }
        return String(cString: text)
    }
}

/// One row of a result, valid while the result is read.
struct PostgresRow {
    fileprivate let result: OpaquePointer
    fileprivate let index: CInt

    func text(_ column: CInt) throws(PostgresFailure) -> String {
        guard let text = optionalText(column) else { throw .damaged("a column without a value where one has to be") }
        return text
    }

    func optionalText(_ column: CInt) -> String? {
        withBytes(column) { PostgresText.decode($0) }
    }

    /// Reads a `bigint`.
    func integer(_ column: CInt) throws(PostgresFailure) -> Int64 {
        guard let number = try optionalInteger(column) else {
            throw .damaged("a column without a value where one has to be")
        }
        return number
    }

    func optionalInteger(_ column: CInt) throws(PostgresFailure) -> Int64? {
        guard let bytes = optionalBytes(column) else { return nil }
        guard bytes.count == 8 else { throw .damaged("a number is not of the type that the ledger's tables have") }
        return bytes.reduce(0) { $0 << 8 | Int64($1) }
    }

    func boolean(_ column: CInt) -> Bool {
        withBytes(column) { $0.first == 1 } ?? false
    }

    func time(_ column: CInt) throws(PostgresFailure) -> Timestamp {
        Timestamp(milliseconds: try integer(column))
    }

    func optionalTime(_ column: CInt) throws(PostgresFailure) -> Timestamp? {
        try optionalInteger(column).map { Timestamp(milliseconds: $0) }
    }

    func optionalBytes(_ column: CInt) -> [UInt8]? {
        withBytes(column) { Array($0) }
    }

    /// Reads a word of a fixed vocabulary.
    func word<Word: RawRepresentable<String>>(_ column: CInt) throws(PostgresFailure) -> Word {
        guard let word = Word(rawValue: try text(column)) else {
            throw .damaged("a row holds a word that this program does not know")
        }
        return word
    }

    private func withBytes<Value>(_ column: CInt, _ read: (UnsafeRawBufferPointer) -> Value) -> Value? {
        guard PQgetisnull(result, index, column) == 0 else { return nil }
        let length = Int(PQgetlength(result, index, column))
        return read(UnsafeRawBufferPointer(start: PQgetvalue(result, index, column), count: length))
    }
}

extension String {
    /// Without what PostgreSQL adds on further lines.
    var firstLine: String {
        String(prefix { !$0.isNewline }.prefix(300))
    }
}
