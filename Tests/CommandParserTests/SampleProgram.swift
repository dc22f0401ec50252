import Synchronization

@testable import CommandParser

/// A program whose commands note their parameters.
struct SampleProgram {
    final class Notes: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    enum State: String, CaseIterable {
        case granted
        case failed
    }

    static let config = Parameter<String?>.option("config", .text, help: "YAML file with the configuration.")
    static let limit = Parameter.option("limit", .integer(1...1000), default: 50, help: "Most rows, 1 to 1000.")
    static let state = Parameter<State?>.option("state", .choice, help: "Only those with this outcome.")
    static let user = Parameter<String?>.option("user", .text, help: "Only those of this user.").takingHyphens()
    static let app = Parameter<String?>.option("app", .text, help: "Only those of this app.")
    static let reason = Parameter<String>.required("reason", .text, help: "Why, in one sentence.")
    static let json = Parameter.flag("json", help: "Answer as JSON.")
    static let id = Parameter<String>.argument("id", .text, help: "The submission's id.")
    static let note = Parameter<String?>.argument("note", .text, help: "A note.")

    static let root = Command<Notes>(
        "sample", "Shows how commands are read.",
        discussion: "Exit codes: 0 done, 1 failed.\n\nA second paragraph.",
        subcommands: [
            Command(
                "list", "Lists submissions, the latest first, and has so much to say that one line cannot hold it all.",
                [config, limit, state, user, app, json]
            ) { arguments, notes throws(CommandFailure) in
                notes.add("config \(try arguments[config] ?? "-")")
                notes.add("limit \(try arguments[limit])")
                notes.add("state \(try arguments[state]?.rawValue ?? "-")")
                notes.add("user \(try arguments[user] ?? "-")")
                notes.add("app \(try arguments[app] ?? "-")")
                notes.add("json \(arguments[json])")
            },
            Command(
                "change", "Changes submissions.",
                subcommands: [
                    Command("retry", "Tries one again.", [reason, id, note]) {
                        arguments, notes throws(CommandFailure) in
                        notes.add("\(try arguments[reason]) \(try arguments[id]) \(try arguments[note] ?? "-")")
                    },
                    Command("fail", "Fails.") { _, _ throws(CommandFailure) in
                        throw CommandFailure(.configuration, "the file is wrong")
                    },
                    Command("doubt", "Finds its options wrong.", [json]) { _, _ throws(CommandFailure) in
                        throw .usage("give either an id or --cause")
                    },
                    Command("quiet", "Fails, and says so by itself.") { _, _ throws(CommandFailure) in
                        throw CommandFailure(.failed, nil)
                    },
                ]),
        ])

    /// The end of a call.
    struct Result: Equatable {
        let status: ExitStatus
        let output: String
        let errors: String
        let notes: [String]
    }

    static func run(_ arguments: String...) -> Result {
        let notes = Notes()
        var (output, errors) = ("", "")
        let status = Program(root, version: "1.2.3")
            .run(arguments, context: notes, output: { output += $0 }, errors: { errors += $0 })
        return Result(status: status, output: output, errors: errors, notes: notes.all)
    }
}
