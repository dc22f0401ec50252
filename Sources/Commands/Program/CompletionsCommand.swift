import CommandParser

enum CompletionsCommand {
    private static let shell = Parameter<Shell>.argument("shell", .choice, help: "The shell.")

    static let command = Command<CommandContext>(
        "completions", "Writes a script that completes grantor's command lines in a shell.",
        discussion: """
            For bash: grantor completions bash > /etc/bash_completion.d/grantor. For zsh: grantor completions zsh > \
            _grantor, in a folder of $fpath. For fish: grantor completions fish > \
            ~/.config/fish/completions/grantor.fish.
            """,
        [shell]
    ) { arguments, context throws(CommandFailure) in
        try context.output(GrantorProgram.program.completion(for: arguments[shell]))
    }
}
