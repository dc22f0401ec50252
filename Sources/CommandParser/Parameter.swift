/// A parameter of a command: an option, a flag or an argument.
public struct Parameter<Value: Sendable>: AnyParameter {
    public private(set) var form: ParameterForm
    /// The value of the texts that were given; nil if they make none.
    let read: @Sendable ([String]) -> Value?

    private init<Element>(
        _ kind: ParameterForm.Kind, _ name: String, _ value: ValueForm<Element>, _ help: String,
        isRequired: Bool = false, read: @escaping @Sendable ([String]) -> Value?
    ) {
        form = ParameterForm(
            kind: kind, name: name, help: help, isRequired: isRequired,
            requirement: { value.read($0) == nil ? value.requirement : nil })
        form.values = value.values
        if !value.values.isEmpty { form.remarks.append("(values: \(value.values.joined(separator: ", ")))") }
        self.read = read
    }

    /// `--name value` or `--name=value`, with a value if it is not given.
    public static func option(
        _ name: String, _ value: ValueForm<Value>, default standard: Value, help: String
    ) -> Self {
        var option = Self(.option, name, value, help) { $0.isEmpty ? standard : $0.last.flatMap(value.read) }
        option.form.remarks.append("(default: \(value.show(standard)))")
        return option
    }

    /// An option that may be left out.
    public static func option<Element>(
        _ name: String, _ value: ValueForm<Element>, help: String
    ) -> Self where Value == Element? {
        Self(.option, name, value, help) { $0.last.map(value.read) ?? .some(nil) }
    }

    /// An option that must be given.
    public static func required(_ name: String, _ value: ValueForm<Value>, help: String) -> Self {
        Self(.option, name, value, help, isRequired: true) { $0.last.flatMap(value.read) }
    }

    /// An option without a value, off unless it is given.
    public static func flag(_ name: String, help: String) -> Self where Value == Bool {
        Self(.flag, name, .text, help) { !$0.isEmpty }
    }

    /// A value that is known by its position, and must be given.
    public static func argument(_ name: String, _ value: ValueForm<Value>, help: String) -> Self {
        Self(.argument, name, value, help, isRequired: true) { $0.last.flatMap(value.read) }
    }

    /// A value that is known by its position, and may be left out.
    public static func argument<Element>(
        _ name: String, _ value: ValueForm<Element>, help: String
    ) -> Self where Value == Element? {
        Self(.argument, name, value, help) { $0.last.map(value.read) ?? .some(nil) }
    }

    /// The option with the name of a file as its value.
    public func namingFile() -> Self {
        var option = self
        option.form.takesFile = true
        return option
    }

    /// The option with the next word as its value, even if the word begins with a hyphen, as ids of users may.
    public func takingHyphens() -> Self {
        var option = self
        option.form.takesHyphens = true
        return option
    }
}

/// A ``Parameter``, whatever its values are.
public protocol AnyParameter: Sendable {
    var form: ParameterForm { get }
}

/// The part of a parameter that parser and help need.
public struct ParameterForm: Sendable {
    enum Kind: Hashable, Sendable {
        case option, flag, argument
    }

    let kind: Kind
    let name: String
    let help: String
    let isRequired: Bool
    /// The requirement that a text does not meet; nil for a text that can be read.
    let requirement: @Sendable (String) -> String?
    /// In addition to `help`: the default, the values there are.
    var remarks: [String] = []
    /// Every value that there is; empty if there are too many.
    var values: [String] = []
    /// Whether its value is the name of a file.
    var takesFile = false
    /// Whether the word behind an option is its value even if it begins with a hyphen.
    var takesHyphens = false

    /// As a person writes it, for help and errors.
    var shown: String {
        switch kind {
        case .option: "--\(name) <\(name)>"
        case .flag: "--\(name)"
        case .argument: "<\(name)>"
        }
    }

    /// As a line of usage shows it.
    var usage: String { isRequired ? shown : "[\(shown)]" }
}

/// The parameters of one call, checked.
public struct ParsedArguments: Sendable {
    /// By ``ParameterForm/shown``, which no two parameters of a command share.
    private var texts: [String: [String]] = [:]

    mutating func add(_ text: String, to form: ParameterForm) { texts[form.shown, default: []].append(text) }

    func holds(_ form: ParameterForm) -> Bool { texts[form.shown] != nil }

    /// Whether a flag was given.
    public subscript(_ flag: Parameter<Bool>) -> Bool { holds(flag.form) }

    /// A parameter's value: the last one given, or else its default; nil where it may be left out.
    /// - Throws: a usage failure if the parameter is required, and the command does not declare it.
    public subscript<Value>(_ parameter: Parameter<Value>) -> Value {
        get throws(CommandFailure) {
            guard let value = parameter.read(texts[parameter.form.shown] ?? []) else { throw .missing(parameter.form) }
            return value
        }
    }
}

/// A form that values are written in, on a command line or as settings.
public struct ValueForm<Value: Sendable>: Sendable {
    /// Completes "must be".
    public let requirement: String
    /// Every text that can be read, for the help; empty if there are too many.
    public let values: [String]
    /// Nil for a text of another form.
    public let read: @Sendable (String) -> Value?
    public let show: @Sendable (Value) -> String

    /// A form that `read` understands; `show` gives texts that it reads as the same values.
    public init(
        _ requirement: String, values: [String] = [], read: @escaping @Sendable (String) -> Value?,
        show: @escaping @Sendable (Value) -> String = { "\($0)" }
    ) {
        self.requirement = requirement
        self.values = values
        self.read = read
        self.show = show
    }
}

extension ValueForm<String> {
    /// Any text but the empty one, which is mostly a variable that was not set.
    public static var text: Self { ValueForm("a text, not empty") { $0.isEmpty ? nil : $0 } }

    /// One line for people: something is to be read in it, and no control character or sign of direction.
    /// - Parameter most: Most characters.
    public static func line(most: Int) -> Self {
        ValueForm("a line of at most \(most) characters, none of them a control character") { text in
            let isPlain = text.unicodeScalars.allSatisfy { scalar in
                // Scripts and emoji join their letters by two of the format characters.
                if scalar == "\u{200C}" || scalar == "\u{200D}" { return true }
                return !scalar.breaksLines && scalar.properties.generalCategory != .privateUse
            }
            let isBlank = text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
            return isPlain && !isBlank && text.unicodeScalars.count <= most ? text : nil
        }
    }
}

extension ValueForm where Value: FixedWidthInteger {
    /// A whole number of a range.
    public static func integer(_ range: ClosedRange<Value>) -> Self {
        ValueForm("a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            // The initializer alone would read a plus sign, too.
            guard text.first != "+", let number = Value(text), range.contains(number) else { return nil }
            return number
        }
    }
}

extension ValueForm where Value: RawRepresentable<String> & CaseIterable {
    /// One word of a closed set.
    public static var choice: Self { choice(of: Array(Value.allCases)) }

    /// One word of a part of a closed set.
    public static func choice(of values: [Value]) -> Self {
        let words = values.map(\.rawValue)
        return ValueForm(
            "one of \(words.joined(separator: ", "))", values: words,
            read: { words.contains($0) ? Value(rawValue: $0) : nil }, show: \.rawValue)
    }
}
