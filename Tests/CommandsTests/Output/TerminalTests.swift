import Testing

@testable import Commands

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
