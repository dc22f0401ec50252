import Testing

@testable import CommandParser

@Suite("Help")
struct HelpTextTests {
    @Test("A program's help lists its commands", arguments: [[], ["--help"], ["-h"], ["help"]])
    func overview(words: [String]) {
        var output = ""
        let status = Program(SampleProgram.root, version: "1")
            .run(words, context: SampleProgram.Notes(), output: { output += $0 }, errors: { _ in })
        #expect(status == .done)
        #expect(
            output == """
                OVERVIEW: Shows how commands are read.

                Exit codes: 0 done, 1 failed.

                A second paragraph.

                USAGE: sample <subcommand>

                OPTIONS:
                  --version               Show the version.
                  -h, --help              Show help information.

                SUBCOMMANDS:
                  list                    Lists submissions, the latest first, and has so much
                                          to say that one line cannot hold it all.
                  change                  Changes submissions.

                  See 'sample help <subcommand>' for detailed help.

                """)
    }

    @Test("A command's help shows arguments before options, with defaults and values")
    func command() {
        #expect(
            SampleProgram.run("help", "change", "retry").output == """
                OVERVIEW: Tries one again.

                USAGE: sample change retry --reason <reason> <id> [<note>]

                ARGUMENTS:
                  <id>                    The submission's id.
                  <note>                  A note.

                OPTIONS:
                  --reason <reason>       Why, in one sentence.
                  --version               Show the version.
                  -h, --help              Show help information.

                """)
        let list = SampleProgram.run("list", "--help").output
        #expect(
            list.contains(
                """
                USAGE: sample list [--config <config>] [--limit <limit>] [--state <state>] [--user <user>] [--app <app>] [--json]
                """))
        #expect(list.contains("  --limit <limit>         Most rows, 1 to 1000. (default: 50)\n"))
        #expect(
            list.contains(
                """
                  --state <state>         Only those with this outcome. (values: granted,
                                          failed)
                """))
    }

    @Test("Help goes before what is missing, and is asked for nowhere behind --")
    func precedence() {
        #expect(SampleProgram.run("change", "retry", "--help").status == .done)
        #expect(SampleProgram.run("change", "--help").output.contains("See 'sample help change <subcommand>'"))
        #expect(SampleProgram.run("list", "--", "--help").errors.hasPrefix("sample: unexpected argument '--help'"))
    }

    @Test("A label that leaves no space has a line of its own")
    func longLabels() {
        let option = Parameter<String?>.option("authority-folder", .text, help: "Folder with keys.")
        let command = Command<Void>("c", "Does it.", [option]) { _, _ in }
        #expect(
            HelpText(words: ["c"], command: command).text.contains(
                "  --authority-folder <authority-folder>\n                          Folder with keys.\n"))
    }

    @Test("No line is longer than 80 characters but that of usage")
    func width() {
        let lines = SampleProgram.run("list", "--help").output.split(separator: "\n")
        #expect(lines.count > 5)
        for line in lines where !line.hasPrefix("USAGE") { #expect(line.count <= 80) }
    }
}
