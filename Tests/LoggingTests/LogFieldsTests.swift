import Testing

@testable import Logging

struct LogFieldsTests {
    @Test func `fields are sorted by name`() {
        let fields = LogFields.bounded(["b": "1", "a": "2", "c": "3"])
        #expect(fields.map(\.name) == ["a", "b", "c"])
        #expect(fields.map(\.text) == ["2", "1", "3"])
    }

    @Test func `their number and their length are bounded`() {
        let many = Logger.Metadata(uniqueKeysWithValues: (0..<1000).map { ("k\($0)", "v") })
        #expect(LogFields.bounded(many).count == LogFields.maxFields)
        let long = String(repeating: "x", count: 1 << 20)
        #expect(LogFields.bounded(["long": long]).first?.text.utf8.count == LogFields.maxTextBytes + 5)
        #expect(LogFields.bounded([long: "v"]).first?.name.utf8.count == LogFields.maxNameBytes + 5)
    }

    @Test func `a line as a whole is bounded, however its bytes are spread`() {
        let long = String(repeating: "x", count: 1 << 20)
        let fields = LogFields.bounded(Logger.Metadata(uniqueKeysWithValues: (0..<64).map { ("k\($0)", long) }))
        #expect(fields.reduce(0) { $0 + $1.name.utf8.count + $1.text.utf8.count } <= LogFields.maxBytes)
        #expect(fields.count == LogFields.maxBytes / LogFields.maxTextBytes - 1)
    }
}
