import CLibpq

/// The server's reply to one statement, values in binary form. It owns libpq's memory and stays on its connection's
/// thread, also when the connection is closed.
final class PostgresResult {
    private let result: OpaquePointer
    let rowCount: Int
    private let columnCount: Int32

    /// Takes the result over.
    init(_ result: OpaquePointer) {
        self.result = result
        rowCount = Int(PQntuples(result))
        columnCount = PQnfields(result)
    }

    deinit { PQclear(result) }

    var status: ExecStatusType { PQresultStatus(result) }

    /// How many rows a statement inserted, updated, deleted or selected; 0 for every other statement.
    var affected: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    var rows: some Sequence<PostgresRow> { (0..<rowCount).lazy.map { PostgresRow(result: self, index: $0) } }
    /// The column in which a statement returns the index of the requested row.
    var lastColumn: Int32 { columnCount - 1 }
    var first: PostgresRow? { rowCount > 0 ? PostgresRow(result: self, index: 0) : nil }

    /// True also for a row or a column that is not there.
    func isNull(_ row: Int, _ column: Int32) -> Bool { withBytes(row, column) { _ in } == nil }

    /// A `bigint`, `integer`, `smallint`, `"char"` or `boolean`; 0 for NULL and for a value of any other width.
    func integer(_ row: Int, _ column: Int32) -> Int64 {
        withBytes(row, column) { bytes in
            // The first byte has the sign.
            guard [1, 2, 4, 8].contains(bytes.count), let first = bytes.first else { return 0 }
            return bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) }
        } ?? 0
    }

    /// A `text`; of another type, the binary form read as one.
    func optionalText(_ row: Int, _ column: Int32) -> String? {
        withBytes(row, column) { String(decoding: $0, as: UTF8.self) }
    }

    /// A value's bytes; none for NULL.
    func blob(_ row: Int, _ column: Int32) -> [UInt8] { withBytes(row, column) { Array($0) } ?? [] }

    /// A field of an error by libpq's letter for it (`PG_DIAG_…`).
    func field(_ letter: Unicode.Scalar) -> String? {
        PQresultErrorField(result, CInt(letter.value)).map { String(cString: $0) }
    }

    /// libpq reports a place that is not there as a notice, and a notice needs the connection. So it is not asked.
    private func withBytes<Value>(_ row: Int, _ column: Int32, _ read: (UnsafeRawBufferPointer) -> Value) -> Value? {
        guard 0..<rowCount ~= row, 0..<columnCount ~= column else { return nil }
        let row = CInt(clamping: row)
        guard PQgetisnull(result, row, column) == 0 else { return nil }
        return read(
            UnsafeRawBufferPointer(
                start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column))))
    }
}

/// One row of a result; columns count from 0. Reads as ``PostgresResult`` does.
struct PostgresRow {
    fileprivate let result: PostgresResult
    fileprivate let index: Int

    func isNull(_ column: Int32) -> Bool { result.isNull(index, column) }
    func integer(_ column: Int32) -> Int64 { result.integer(index, column) }
    func optionalText(_ column: Int32) -> String? { result.optionalText(index, column) }
    func blob(_ column: Int32) -> [UInt8] { result.blob(index, column) }
}
