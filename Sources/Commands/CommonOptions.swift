import CommandParser
import Configuration

/// Options that several commands have, with the steps that they stand for.
enum CommonOptions {
    static let config = Option<String?>.optional(
        "config", .text, help: "YAML file with the configuration; GRANTOR_ environment variables win over it.")
    static let json = Flag("json", help: "Answer as JSON.")
    static let app = Option<String?>.optional("app", .text, help: "Only those of the app with this bundle id.")
    static let user = Option<String?>.optional("user", .text, help: "Only those of this user.").takingHyphens()
    static let maxLimit = 1000
    static let limit = Option(
        "limit", .integer(1...maxLimit), default: 50, shown: "50", help: "Most rows, 1 to \(maxLimit).")
    static let before = Option<Int64?>.optional(
        "before", .integer(Int64.min...Int64.max), help: "Continue a list: the number that the page before ended with.")
    static let actor = Option.required("actor", .text, help: "The name or address of the person who does this.")
    static let reason = Option.required("reason", .text, help: "Why, in one sentence.")

    /// `--config` and `--json`, for commands that answer questions.
    static let answering: [any Parameter] = [config, json]
    static let paging: [any Parameter] = [limit, before]

    /// Where the next page begins; nil if these rows are the last.
    static func next(after sequences: [Int64], limit: Int) -> Int64? {
        sequences.count < limit ? nil : sequences.last
    }
}

extension ParsedArguments {
    /// Reads a part of the configuration that `--config` and the environment give; a mistake in it ends the command.
    ///
    /// Mistakes in other parts keep nobody from an answer.
    func configuration<Part>(
        _ context: CommandContext, _ part: (SettingValues) throws(ConfigurationError) -> Part
    ) throws(CommandFailure) -> Part {
        let file = try self[CommonOptions.config]
        do throws(ConfigurationError) {
            return try part(SettingValues.load(file: file, environment: context.environment))
        } catch {
            throw CommandFailure(.configuration, error.description)
        }
    }

    /// The form that `--json` asks for.
    func format(_ context: CommandContext) -> AnswerFormat {
        self[CommonOptions.json] ? .json : .text(width: context.width)
    }
}
