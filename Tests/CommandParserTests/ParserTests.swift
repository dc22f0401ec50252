import Testing

@testable import CommandParser

@Suite("Command lines")
struct ParserTests {
    @Test("A parameter that is not given has its default")
    func defaults() {
        let result = SampleProgram.run("list")
        #expect(result.status == .done)
        #expect(result.notes == ["config -", "limit 50", "state -", "user -", "app -", "json false"])
        #expect(result.output.isEmpty && result.errors.isEmpty)
    }

    @Test("A value stands behind its option or behind an equals sign")
    func values() {
        let result = SampleProgram.run("list", "--config", "a.yaml", "--limit=7", "--state", "failed", "--json")
        #expect(result.notes == ["config a.yaml", "limit 7", "state failed", "user -", "app -", "json true"])
    }

    @Test("Only the first equals sign separates")
    func equalsSigns() {
        #expect(SampleProgram.run("list", "--config=a=b").notes.first == "config a=b")
    }

    @Test("A flag may be given twice, and an option once")
    func repeated() {
        #expect(SampleProgram.run("list", "--app", "b", "--json", "--json").notes.suffix(2) == ["app b", "json true"])
        #expect(SampleProgram.run("list", "--app", "b", "--app=a").errors.hasPrefix("sample: --app is given twice\n"))
    }

    @Test("A value that begins with a hyphen needs an equals sign, unless the option takes such values")
    func hyphens() {
        #expect(SampleProgram.run("list", "--config=-x").notes.first == "config -x")
        #expect(SampleProgram.run("list", "--config", "-").notes.first == "config -")
        #expect(
            SampleProgram.run("list", "--user", "--json").notes.suffix(3) == ["user --json", "app -", "json false"])
        #expect(
            SampleProgram.run("list", "--config", "--json").errors.hasPrefix(
                "sample: --config <config> needs a value\n"))
    }

    @Test("Arguments are taken by their places; behind -- they may begin with a hyphen")
    func arguments() {
        #expect(SampleProgram.run("change", "retry", "i-1", "--reason", "why").notes == ["why i-1 -"])
        #expect(SampleProgram.run("change", "retry", "--reason", "why", "i-1", "n").notes == ["why i-1 n"])
        #expect(
            SampleProgram.run("change", "retry", "--reason", "why", "--", "-i", "--help").notes == ["why -i --help"])
        #expect(SampleProgram.run("change", "retry", "--reason", "why", "-").notes == ["why - -"])
    }

    @Test(
        "A wrong command line ends with 64, one line and how the command is used",
        arguments: [
            (["frobnicate"], "unexpected argument 'frobnicate'"),
            (["change", "frobnicate"], "unexpected argument 'frobnicate'"),
            (["list", "surplus"], "unexpected argument 'surplus'"),
            (["list", "--frobnicate"], "unknown option '--frobnicate'"),
            (["list", "--frobnicate=canary"], "unknown option '--frobnicate'"),
            (["list", "-x"], "unknown option '-x'"),
            (["list", "--id", "1"], "unknown option '--id'"),
            (["list", "--limit"], "--limit <limit> needs a value"),
            (["list", "--limit", "0"], "--limit must be a whole number from 1 to 1000"),
            (["list", "--limit", "+5"], "--limit must be a whole number from 1 to 1000"),
            (["list", "--limit", "many"], "--limit must be a whole number from 1 to 1000"),
            (["list", "--state", "gone"], "--state must be one of granted, failed"),
            (["list", "--config", ""], "--config must be a text, not empty"),
            (["list", "--limit", "1", "--limit", "2"], "--limit is given twice"),
            (["list", "--json=yes"], "--json takes no value"),
            (["change", "retry", "--reason", "why"], "<id> is missing: The submission's id."),
            (["change", "retry", "i"], "--reason <reason> is missing: Why, in one sentence."),
            (["change", "retry", "--reason", "why", ""], "<id> must be a text, not empty"),
            (["help", "frobnicate"], "unexpected argument 'frobnicate'"),
            (["help", "list", "surplus"], "unexpected argument 'surplus'"),
        ])
    func mistakes(words: [String], line: String) {
        var errors = ""
        let status = Program(SampleProgram.root, version: "1")
            .run(words, context: SampleProgram.Notes(), output: { _ in }, errors: { errors += $0 })
        #expect(status == .usage)
        let lines = errors.split(separator: "\n")
        #expect(lines.first == "sample: \(line)")
        #expect(
            lines.count == 3 && lines[1].hasPrefix("Usage: sample ") && lines[2].hasSuffix(" for more information."))
        #expect(!errors.contains("canary"))
    }

    @Test("A word that is repeated in an error is one line, and cut")
    func shownWords() {
        let long = SampleProgram.run("list", String(repeating: "e", count: 5000)).errors
        #expect(long.hasPrefix("sample: unexpected argument '\(String(repeating: "e", count: 60))…'\n"))
        #expect(
            SampleProgram.run("list", "a\u{1B}[2J\nb").errors.hasPrefix(
                "sample: unexpected argument 'a\u{FFFD}[2J\u{FFFD}b'\n"))
    }
}
