import LedgerConformance
import Purchases
import Testing

@testable import Ledger

@Suite struct PostgresValueTests {
    @Test func aColumnIsAnArrayInTheServersBinaryForm() {
        var column = PostgresColumn(.text, count: 2)
        column.append("ab")
        column.append(String?.none)
        let expected: [UInt8] = [
            // One dimension, nulls among them, of type text, two elements from index 1.
            0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 25, 0, 0, 0, 2, 0, 0, 0, 1,
            // Two bytes, and NULL.
            0, 0, 0, 2, 97, 98, 255, 255, 255, 255,
        ]
        #expect(column.value.bytes == expected)
        #expect(column.value.bytes == expected, "looked at once more")
    }

    @Test func rowsBecomeTheColumnsThatTheyAreMadeOf() {
        let rows: [(text: String?, bytes: [UInt8]?, number: Int64?, time: Timestamp?)] = [
            ("a\u{0}b", [0, 26, 255], .min, Samples.noon), (nil, nil, nil, nil), ("", [], 0, nil),
        ]
        var columns = PostgresColumns([.text, .bytes, .integer, .integer], count: rows.count)
        var texts = PostgresColumn(.text, count: 0)
        var bytes = PostgresColumn(.bytes, count: 0, of: 1000)
        var numbers = PostgresColumn(.integer, count: 0)
        var times = PostgresColumn(.integer, count: 0)
        for row in rows {
            columns.append(row.text)
            columns.append(row.bytes)
            columns.append(row.number)
            columns.append(row.time)
            texts.append(row.text)
            bytes.append(row.bytes)
            numbers.append(row.number)
            times.append(row.time)
        }
        let values = columns.values.map(\.bytes)
        #expect(values == [texts.value.bytes, bytes.value.bytes, numbers.value.bytes, times.value.bytes])
    }
}
