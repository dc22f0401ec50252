/// Shells that can complete command lines by a script.
public enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish
}

extension Program {
    /// A script that completes this program's command lines in a shell: commands, options, and the values of options
    /// that take a closed set. It is made of the commands' declarations and asks the program nothing.
    public func completion(for shell: Shell) -> String {
        let script = CompletionScript(root)
        return switch shell {
        case .bash: script.bash
        case .zsh: script.zsh
        case .fish: script.fish
        }
    }
}

/// The commands of a program as a script sees them. A place is a path such as `/submissions/list/`.
struct CompletionScript {
    struct Entry {
        let name: String
        let help: String
    }

    struct Place {
        let path: String
        var commands: [Entry] = []
        var options: [Entry] = []
        /// Options that take a value: the values, and whether it is a file. Any other text has neither.
        var values: [(option: String, words: [String], isFile: Bool)] = []
    }

    private let program: String
    let places: [Place]

    init<Context>(_ root: Command<Context>) {
        program = root.name
        places = Self.places(of: root, at: "/")
    }

    private static func places<Context>(of command: Command<Context>, at path: String) -> [Place] {
        var place = Place(path: path, commands: command.subcommands.map { Entry(name: $0.name, help: $0.summary) })
        if path == "/" { place.commands.append(Entry(name: "help", help: "Shows the help of a command.")) }
        // The words of an argument stand where commands stand.
        for form in command.parameters where form.kind == .argument {
            place.commands += form.values.map { Entry(name: $0, help: form.help) }
        }
        for form in command.parameters where form.kind != .argument {
            place.options.append(Entry(name: "--\(form.name)", help: form.help))
            guard form.kind == .option else { continue }
            place.values.append(("--\(form.name)", form.values, form.takesFile))
        }
        place.options.append(Entry(name: "--help", help: "Show help information."))
        place.options.append(Entry(name: "--version", help: "Show the version."))
        return [place] + command.subcommands.flatMap { places(of: $0, at: "\(path)\($0.name)/") }
    }

    /// The paths of all commands, as patterns of a shell's `case`.
    private func patterns(_ separator: String) -> String {
        places.dropFirst().map { String($0.path.dropLast()) }.joined(separator: separator)
    }

    // MARK: bash

    var bash: String {
        var text = """
            # Completes \(program) in bash: source it, or put it into /etc/bash_completion.d.
            _\(program)() {
                local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]} place=/ words= i
                for ((i = 1; i < COMP_CWORD; i++)); do
                    case "$place${COMP_WORDS[i]}" in
                        \(patterns("|"))) place+="${COMP_WORDS[i]}/" ;;
                    esac
                done
                case "$place $last" in

            """
        for place in places {
            for (option, words, isFile) in place.values {
                let answer =
                    isFile
                    ? "COMPREPLY=($(compgen -f -- \"$word\"))"
                    : "COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$word\"))"
                text += "        \"\(place.path) \(option)\") \(answer); return ;;\n"
            }
        }
        text += "    esac\n    case \"$place\" in\n"
        for place in places {
            let words = (place.commands + place.options).map(\.name).joined(separator: " ")
            text += "        \(place.path)) words=\"\(words)\" ;;\n"
        }
        return text + """
                esac
                COMPREPLY=($(compgen -W "$words" -- "$word"))
            }
            complete -o default -F _\(program) \(program)

            """
    }

    // MARK: zsh

    var zsh: String {
        var text = """
            #compdef \(program)
            # Completes \(program) in zsh: put it as _\(program) into a folder of $fpath.
            _\(program)() {
                local place=/ word last=${words[CURRENT-1]}
                local -a entries
                for word in ${words[2,CURRENT-1]}; do
                    case "$place$word" in
                        (\(patterns("|"))) place+="$word/" ;;
                    esac
                done
                case "$place $last" in

            """
        for place in places {
            for (option, words, isFile) in place.values {
                let answer = isFile ? "_files" : words.isEmpty ? "" : "compadd -- \(words.joined(separator: " "))"
                text += "        (\"\(place.path) \(option)\") \(answer); return ;;\n"
            }
        }
        text += "    esac\n    case \"$place\" in\n"
        for place in places {
            let entries = (place.commands + place.options).map { Self.quoted("\($0.name):\($0.help)") }
            text += "        (\(place.path)) entries=(\(entries.joined(separator: " "))) ;;\n"
        }
        return text + """
                esac
                _describe '\(program)' entries
            }
            compdef _\(program) \(program)

            """
    }

    // MARK: fish

    var fish: String {
        var text = """
            # Completes \(program) in fish: put it as \(program).fish into ~/.config/fish/completions.
            function __\(program)_place
                set -l place /
                for word in (commandline -opc)[2..-1]
                    switch "$place$word"
                        case \(patterns(" "))
                            set place "$place$word/"
                    end
                end
                echo $place
            end
            complete -c \(program) -f

            """
        for place in places {
            let start = "complete -c \(program) -n 'test (__\(program)_place) = \(place.path)'"
            for command in place.commands {
                text += "\(start) -a \(command.name) -d \(Self.quoted(command.help))\n"
            }
            for option in place.options {
                let value = place.values.first { $0.option == option.name }
                let takes =
                    switch value {
                    case nil: ""
                    case (_, _, true)?: " -r -F"
                    case (_, let words, false)?:
                        words.isEmpty ? " -x" : " -x -a \(Self.quoted(words.joined(separator: " ")))"
                    }
                text += "\(start) -l \(option.name.dropFirst(2))\(takes) -d \(Self.quoted(option.help))\n"
            }
        }
        return text
    }

    /// In single quotes, which nothing in a help's sentence ends.
    private static func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "").replacing("'", with: "’"))'"
    }
}
