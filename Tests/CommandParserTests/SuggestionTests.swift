import Testing

@testable import CommandParser

@Suite("Words that may have been meant")
struct SuggestionTests {
    private static let known = ["submissions", "grants", "find", "topics", "migrate", "--limit", "--before", "--state"]

    @Test(
        "A misspelt word is close to the one that was meant",
        arguments: [
            ("submisions", "submissions"), ("submissoins", "submissions"), ("grant", "grants"), ("fidn", "find"),
            ("topcis", "topics"), ("--lmit", "--limit"), ("--stat", "--state"), ("subm", "submissions"),
            ("--bef", "--before"),
        ])
    func close(word: String, meant: String) { #expect(Suggestion.closest(to: word, of: Self.known) == meant) }

    @Test(
        "A word that is like none is no other one",
        arguments: ["", "x", "run", "purchases", "--user", "--", String(repeating: "g", count: 100)])
    func none(word: String) { #expect(Suggestion.closest(to: word, of: Self.known) == nil) }

    @Test("An error says so, for commands and for options")
    func told() {
        #expect(
            SampleProgram.run("chnage").errors.hasPrefix(
                "sample: unexpected argument 'chnage'; did you mean 'change'?\n"))
        #expect(
            SampleProgram.run("list", "--jsn").errors.hasPrefix(
                "sample: unknown option '--jsn'; did you mean '--json'?\n"))
    }
}
