/// The parameters of one call, checked.
public struct ParsedArguments: Hashable, Sendable {
    /// By ``ParameterForm/shown``, which no two parameters of a command share.
    private var texts: [String: [String]] = [:]

    mutating func add(_ text: String, to form: ParameterForm) {
        texts[form.shown, default: []].append(text)
    }

    func holds(_ form: ParameterForm) -> Bool { texts[form.shown] != nil }

    /// An option's value.
    ///
    /// - Throws: a usage failure if the option is required, and the command does not declare it.
    public subscript<Value>(_ option: Option<Value>) -> Value {
        get throws(CommandFailure) {
            guard let value = option.read(texts[option.form.shown] ?? []) else { throw .missing(option.form) }
            return value
        }
    }

    /// Whether a flag was given.
    public subscript(_ flag: Flag) -> Bool { holds(flag.form) }

    /// An argument's value.
    ///
    /// - Throws: a usage failure if the argument is required, and the command does not declare it.
    public subscript<Value>(_ argument: Argument<Value>) -> Value {
        get throws(CommandFailure) {
            guard let value = argument.read(texts[argument.form.shown]?.last) else { throw .missing(argument.form) }
            return value
        }
    }
}

extension CommandFailure {
    static func missing(_ form: ParameterForm) -> CommandFailure { .usage("\(form.shown) is missing: \(form.help)") }
}
