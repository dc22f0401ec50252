import CommandParser
import Foundation
import Glibc
import Synchronization
import Testing
import Threading

@testable import Commands

@Suite("Standard output")
struct StandardOutputTests {
    @Test("An answer is written whole where the descriptor does not block and its reader is slow")
    func unblocked() throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (output, input) = (ends[0], ends[1])
        defer { close(output) }
        try #require(fcntl(input, F_SETFL, O_NONBLOCK) == 0)
        let size = 1_000_000
        let answer = (0..<size).map { UInt8($0 % 251) }
        let read = Mutex<[UInt8]>([])
        let reader = try OwnerThread(name: "reader") {
            var buffer = [UInt8](repeating: 0, count: 1024)
            var left = size
            while left > 0 {
                let count = Glibc.read(output, &buffer, buffer.count)
                guard count > 0 else { return }
                read.withLock { $0 += buffer.prefix(count) }
                left -= count
            }
        }
        #expect(StandardOutput.write(answer, to: input))
        close(input)
        reader.join()
        #expect(read.withLock { $0 } == answer)
    }

    @Test("A reader that has closed the pipe fails no command: it has all that it wanted")
    func closed() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_IGN)
            var ends: [CInt] = [0, 0]
            try #require(pipe(&ends) == 0)
            close(ends[0])
            try StandardOutput.answer(Array("answer".utf8), to: ends[1])
        }
    }

    @Test("An answer that a full disk does not take fails the command, with the system's words")
    func full() throws {
        let disk = open("/dev/full", O_WRONLY)
        defer { close(disk) }
        let failure = CommandFailure(
            .failed, "the answer cannot be written to standard output: No space left on device")
        #expect(throws: failure) { try StandardOutput.answer(Array("answer".utf8), to: disk) }
    }
}

@Suite("Tables for people")
struct TextTableTests {
    @Test("Columns are as wide as their widest cell, lines end without spaces")
    func aligned() {
        let table = TextTable(header: ["A", "LONG", "C"], rows: [["1", "2", ""], ["wide", "é", "x"]])
        #expect(table.text() == "A     LONG  C\n1     2\nwide  é     x\n")
    }

    @Test("Where lines are too long the widest column gives way, and the others stay whole")
    func shrunk() {
        let table = TextTable(
            header: ["ID", "OUTCOME"], rows: [["0b7d9a52-0000-5000", "granted"], ["short", "failed"]])
        #expect(table.text(maxWidth: 21) == "ID            OUTCOME\n0b7d9a52-00…  granted\nshort         failed\n")
        #expect(table.text(maxWidth: 27) == table.text())
    }

    @Test("The first column stays whole where that is asked for, to be copied into the next command")
    func keepsFirst() {
        let table = TextTable(
            header: ["ID", "REASON"], rows: [["0b7d9a52-0000-5000", "receipt_not_authentic"]], keepsFirst: true)
        #expect(table.text(maxWidth: 32) == "ID                  REASON\n0b7d9a52-0000-5000  receipt_not…\n")
    }

    @Test("A name that is longer than the terminal leaves half of it to the rest")
    func longName() {
        let table = TextTable(
            header: ["ID", "OUTCOME"], rows: [[String(repeating: "x", count: 128), "granted"]], keepsFirst: true)
        #expect(table.text(maxWidth: 20) == "ID           OUTCOME\nxxxxxxxxxx…  granted\n")
    }

    @Test("A terminal too narrow for that cuts lines")
    func cut() {
        #expect(TextTable(header: ["ABCDEF"], rows: [["12"]]).text(maxWidth: 4) == "ABC…\n12\n")
    }

    @Test("Characters that take two columns shift no column behind them")
    func wide() {
        let table = TextTable(header: ["USER", "STATE"], rows: [["玩家一号", "held"], ["u", "failed"]])
        #expect(table.text() == "USER      STATE\n玩家一号  held\nu         failed\n")
        let narrow = TextTable(header: ["A", "B"], rows: [["1", "一二三四五六七"]]).text(maxWidth: 13)
        #expect(narrow == "A  B\n1  一二三四…\n")
    }

    @Test("A column that says nothing of any row is left out")
    func emptyColumns() {
        let table = TextTable(header: ["A", "B", "C"], rows: [["1", "-", "-"], ["2", "-", "3"]])
        #expect(table.withoutEmptyColumns().text() == "A  C\n1  -\n2  3\n")
    }

    @Test("No cell can break a line or steer the terminal")
    func control() {
        let text = TextTable(header: ["A"], rows: [["\u{1B}[31m\n\u{202E}x"]]).text()
        #expect(text == "A\n\u{FFFD}[31m\u{FFFD}\u{FFFD}x\n")
    }

    @Test("Names and values stand under each other")
    func fields() {
        #expect(TextFields(fields: [("a", "1"), ("long", "2\n3")]).text() == "  a     1\n  long  2\u{FFFD}3\n")
    }

    @Test("A name can neither break a line nor steer the terminal, and counts as wide as it is")
    func names() {
        let fields = TextFields(fields: [("\u{1B}[2J\n", "1"), ("玩家", "2"), ("\u{9B}x", "3")])
        #expect(fields.text() == "  \u{FFFD}[2J\u{FFFD}  1\n  玩家   2\n  \u{FFFD}x     3\n")
    }
}

@Suite("Answers in JSON")
struct JSONOutputTests {
    @Test("No character of a text steers the terminal, and each is there for programs")
    func control() throws {
        let text = "\u{1B}[31m \u{7F}\u{85}\u{9B}2J\u{2028}\u{2029}\u{202E} é玩😀 \u{E0001}"
        let json = JSONOutput.object(["a\u{9B}": .string(text)]).text
        let escaped =
            #"\u001b[31m \u007f\u0085\u009b2J\u2028\u2029\u202e é玩😀 \udb40\udc01"#
        #expect(json == "{\n  \"a\\u009b\" : \"\(escaped)\"\n}\n")
        let read = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: String]
        #expect(read == ["a\u{9B}": text])
    }
}

@Suite("Terminal")
struct TerminalTests {
    @Test("Only a terminal has a width; COLUMNS overrules what the terminal says of itself")
    func width() {
        #expect(Terminal.width(isTerminal: true, columns: nil, reported: 120) == 120)
        #expect(Terminal.width(isTerminal: true, columns: "100", reported: 120) == 100)
        #expect(Terminal.width(isTerminal: true, columns: "100", reported: nil) == 100)
        #expect(Terminal.width(isTerminal: false, columns: "100", reported: 120) == nil)
    }

    @Test("A text that is no width is passed over", arguments: ["", "wide", "0", "-3", "99999999999999999999"])
    func invalid(columns: String) {
        #expect(Terminal.width(isTerminal: true, columns: columns, reported: 120) == 120)
        #expect(Terminal.width(isTerminal: true, columns: columns, reported: 0) == nil)
    }
}
