import Testing

@testable import CommandParser

@Suite("Programs")
struct ProgramTests {
    @Test("The version is printed wherever it is asked for", arguments: [["--version"], ["list", "--version"]])
    func version(words: [String]) {
        var output = ""
        let status = Program(SampleProgram.root, version: "1.2.3")
            .run(words, context: SampleProgram.Notes(), output: { output += $0 }, errors: { _ in })
        #expect(status == .done && output == "1.2.3\n")
    }

    @Test("A failure has its status and one line")
    func failure() {
        let result = SampleProgram.run("change", "fail")
        #expect(result.status == .configuration)
        #expect(result.errors == "sample: the file is wrong\n")
    }

    @Test("A command that finds its options wrong says how it is used")
    func usageFailure() {
        let result = SampleProgram.run("change", "doubt")
        #expect(result.status == .usage)
        #expect(
            result.errors == """
                sample: give either an id or --cause
                Usage: sample change doubt [--json]
                  See 'sample change doubt --help' for more information.

                """)
    }

    @Test("A failure without a line ends with its status alone")
    func quietFailure() {
        let result = SampleProgram.run("change", "quiet")
        #expect(result.status == .failed && result.errors.isEmpty)
    }

    @Test("Help that cannot be written is a failure of the program")
    func brokenOutput() {
        var errors = ""
        let status = Program(SampleProgram.root, version: "1").run(
            ["--help"], context: SampleProgram.Notes(),
            output: { _ throws(CommandFailure) in throw CommandFailure(.failed, "no output") }, errors: { errors += $0 }
        )
        #expect(status == .failed && errors == "sample: no output\n")
    }
}
