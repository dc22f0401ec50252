import ChildProcesses
import Testing

@testable import CommandParser

@Suite("Completion")
struct CompletionTests {
    /// The words that bash offers for the last word of a command line.
    private func offered(_ words: String...) throws -> [String] {
        let script = Program(SampleProgram.root, version: "1").completion(for: .bash)
        let line = words.map { "'\($0)'" }.joined(separator: " ")
        let started = ChildProcess([
            "/bin/bash", "-c",
            """
            \(script)
            COMP_WORDS=(sample \(line)); COMP_CWORD=\(words.count)
            _sample
            printf '%s\\n' "${COMPREPLY[@]}"
            """,
        ])
        let bash = try #require(started)
        var lines: [String] = []
        while let line = bash.readLine() { lines.append(line) }
        return lines.filter { !$0.isEmpty }
    }

    @Test("Commands are offered where one is to follow, and those below them")
    func commands() throws {
        #expect(try offered("") == ["list", "change", "help", "--help", "--version"])
        #expect(try offered("li") == ["list"])
        #expect(try offered("change", "re") == ["retry"])
        #expect(try offered("help", "change", "re") == ["retry"])
    }

    @Test("Options of a command are offered, whatever stands before")
    func options() throws {
        let options = try offered("list", "--")
        #expect(options.contains("--help") && options.count > 2)
        #expect(try offered("--") == ["--help", "--version"])
    }

    @Test("Every command and option stands in each script", arguments: Shell.allCases)
    func complete(shell: Shell) {
        let script = Program(SampleProgram.root, version: "1").completion(for: shell)
        let places = CompletionScript(SampleProgram.root).places
        #expect(places.contains { !$0.commands.isEmpty } && places.contains { !$0.options.isEmpty })
        for place in places {
            #expect(script.contains(place.path))
            for entry in place.commands { #expect(script.contains(entry.name)) }
            for entry in place.options { #expect(script.contains(entry.name.drop { $0 == "-" })) }
        }
    }

    @Test("No help ends the quotes that it stands in")
    func quotes() {
        let root = Command<Int>(
            "sample", "It's a \\ sample.", [Parameter.flag("wide", help: "Cut nothing that's wide.")]
        ) { _, _ in }
        for shell in [Shell.zsh, .fish] {
            let script = Program(root, version: "1").completion(for: shell)
            #expect(script.contains("that’s wide") && !script.contains("that's"))
        }
    }
}
