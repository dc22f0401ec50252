import Foundation
import Testing

@testable import Logging

struct LogFormatterTests {
    private func line(_ message: String = "Submission granted", _ fields: [(name: String, value: LogValue)] = [])
        -> LogLine
    {
        LogLine(
            time: 1_700_000_000_250, level: "info", label: "worker", message: message,
            fields: fields)
    }

    private func object(_ bytes: [UInt8]) throws -> [String: String] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: String])
    }

    @Test("A JSON line has time, level, label, message and the fields, in this order")
    func json() {
        let text = String(decoding: LogFormatter.json(line("Submission granted", [("user", "u-1")])), as: UTF8.self)
        #expect(
            text == #"{"ts":"2023-11-14T22:13:20.250Z","level":"info","label":"worker","#
                + #""message":"Submission granted","user":"u-1"}"# + "\n")
    }

    @Test("Numbers are numbers of JSON, and plain in a line for people")
    func numbers() {
        let fields: [(name: String, value: LogValue)] = [("away_seconds", .number(-7)), ("rows", 3), ("text", "7")]
        let json = String(decoding: LogFormatter.json(line("m", fields)), as: UTF8.self)
        #expect(json.hasSuffix(#""away_seconds":-7,"rows":3,"text":"7"}"# + "\n"))
        let text = String(decoding: LogFormatter.text(line("m", fields)), as: UTF8.self)
        #expect(text.hasSuffix(": m away_seconds=-7 rows=3 text=7\n"))
    }

    @Test(
        "Whatever a value holds, the line is valid JSON and one line",
        arguments: [
            "\"quoted\" \\ back", "line\nbreak\r\ttab", "\u{0}\u{1}\u{1F}\u{7F}\u{9B}", "\u{2028}\u{2029}",
            "émoji 🎮 \u{301}",
            "\u{1B}[31mred", "}{\",:", "\u{FFFF}\u{10FFFF}", "", "\u{202E}\u{200B}\u{FEFF}\u{E0001}",
        ])
    func anyValue(value: String) throws {
        let bytes = LogFormatter.json(line(value, [("field", .text(value)), (value + "name", "x")]))
        #expect(bytes.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        #expect(bytes.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        let object = try object(bytes)
        #expect(object["field"] == value)
        #expect(object["message"] == value)
    }

    @Test("A field named like a fixed member does not take its place")
    func reserved() throws {
        let bytes = LogFormatter.json(line("real", [("level", "a"), ("message", "b"), ("metadata.level", "c")]))
        let object = try object(bytes)
        #expect(object["message"] == "real")
        #expect(object["metadata.message"] == "b")
        #expect(object["metadata.level"] == "c")
        #expect(object["metadata.metadata.level"] == "a")
    }

    @Test("A text line is for people, and no value can break it or steer the terminal")
    func text() {
        let bytes = LogFormatter.text(
            line("Submission granted", [("a", "plain"), ("b", "two words"), ("c", ""), ("d", "\u{1B}[2J\n\"")]))
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"2023-11-14T22:13:20.250Z info worker: Submission granted a=plain b="two words" c="" d="\u001b[2J\n\"""#
                + "\n")
    }

    @Test("Signs that turn or hide text are shown as what they are, and a mark hides no blank or quote")
    func signs() {
        let fields: [(name: String, value: LogValue)] = [
            ("a", "x\u{202E}y\u{200B}\u{E0001}"), ("b", "two \u{301}words"), ("c", "\"\u{301}"),
        ]
        #expect(
            String(decoding: LogFormatter.text(line("m", fields)), as: UTF8.self).hasSuffix(
                #": m a=x\u202ey\u200b\udb40\udc01 b="two \#u{301}words" c="\"\#u{301}""# + "\n"))
    }

    @Test("A long message is cut")
    func cut() throws {
        let object = try object(LogFormatter.json(line(String(repeating: "é", count: LogFields.maxTextBytes))))
        #expect(object["message"]?.hasSuffix("é[cut]") == true)
        #expect((object["message"]?.utf8.count ?? .max) < LogFields.maxTextBytes + 10)
    }
}

struct LogFieldsTests {
    @Test("Fields are sorted by name")
    func sorted() {
        let fields = LogFields.bounded(["b": "1", "a": "2", "c": "3"])
        #expect(fields.map(\.name) == ["a", "b", "c"])
        #expect(fields.map(\.value) == ["2", "1", "3"])
    }

    @Test("Their number and their length are bounded")
    func fields() {
        let many = Logger.Metadata(uniqueKeysWithValues: (0..<1000).map { ("k\($0)", "v") })
        #expect(LogFields.bounded(many).count == LogFields.maxFields)
        let long = String(repeating: "x", count: 1 << 20)
        #expect(
            LogFields.bounded(["long": .text(long)]).first?.value.description.utf8.count == LogFields.maxTextBytes + 5)
        #expect(LogFields.bounded([long: "v"]).first?.name.utf8.count == LogFields.maxNameBytes + 5)
    }

    @Test("A line as a whole is bounded, however its bytes are spread")
    func wholeLine() {
        let long = String(repeating: "x", count: 1 << 20)
        let fields = LogFields.bounded(Logger.Metadata(uniqueKeysWithValues: (0..<64).map { ("k\($0)", .text(long)) }))
        #expect(fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.description.utf8.count } <= LogFields.maxBytes)
        #expect(fields.count == LogFields.maxBytes / LogFields.maxTextBytes - 1)
    }
}
