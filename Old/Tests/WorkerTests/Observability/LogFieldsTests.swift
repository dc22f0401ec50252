import Logging
import Testing

@testable import Worker

@Suite("Fields of a log line")
struct LogFieldsTests {
    private func flatten(_ sources: Logger.Metadata?...) -> [String: String] {
        Dictionary(uniqueKeysWithValues: LogFields.flatten(sources).map { ($0.name, $0.text) })
    }

    @Test("Nested metadata becomes flat names")
    func nested() {
        let metadata: Logger.Metadata = [
            "topic": "t", "range": ["from": "1", "to": ["a": "2"]], "list": ["x", ["k": "y"]],
            "count": .stringConvertible(3),
        ]
        #expect(
            flatten(metadata) == [
                "topic": "t", "range.from": "1", "range.to.a": "2", "list.0": "x", "list.1.k": "y", "count": "3",
            ])
    }

    @Test("The later source wins, and names are sorted")
    func sources() {
        #expect(flatten(["a": "1", "b": "1"], nil, ["a": "2"]) == ["a": "2", "b": "1"])
        #expect(LogFields.flatten([["b": "1", "a": "1", "c": "1"]]).map(\.name) == ["a", "b", "c"])
    }

    @Test("Fields, depth and length are bounded")
    func bounds() {
        let many = Logger.Metadata(uniqueKeysWithValues: (0..<1000).map { ("k\($0)", "v") })
        #expect(flatten(many).count == LogFields.maxFields)
        var deep: Logger.MetadataValue = "end"
        for _ in 0..<100 { deep = .dictionary(["d": deep]) }
        #expect(flatten(["deep": deep]).isEmpty)
        #expect(
            flatten(["long": "\(String(repeating: "x", count: 1 << 20))"])["long"]?.utf8.count == LogFields.maxTextBytes
                + 5)
    }

    @Test("A line as a whole is bounded, however its bytes are spread over names and values")
    func lineBound() {
        let long = String(repeating: "x", count: 1 << 20)
        let values = Logger.Metadata(uniqueKeysWithValues: (0..<64).map { ("k\($0)", "\(long)") })
        let fields = LogFields.flatten([values])
        #expect(fields.reduce(0) { $0 + $1.name.utf8.count + $1.text.utf8.count } <= LogFields.maxBytes)
        #expect(fields.count == LogFields.maxBytes / LogFields.maxTextBytes - 1)
        #expect(LogFields.flatten([[long: "v"]]).first?.name.utf8.count == LogFields.maxNameBytes + 5)
    }
}
