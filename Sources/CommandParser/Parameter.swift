/// A parameter of a command: an ``Option``, a ``Flag`` or an ``Argument``.
public protocol Parameter: Sendable {
    var form: ParameterForm { get }
    /// The requirement that a text does not meet; nil for a text that can be read.
    func requirement(unmetBy text: String) -> String?
}

/// The part of a parameter that parser and help need, whatever its values are.
public struct ParameterForm: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case option
        case flag
        case argument
    }

    let kind: Kind
    let name: String
    let help: String
    /// In addition to `help`: the default or the values there are.
    var remark = ""
    var isRequired = false
    var mayRepeat = false
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
    var usage: String {
        let repeated = mayRepeat ? " ..." : ""
        return isRequired ? shown + repeated : "[\(shown)\(repeated)]"
    }
}

/// How values are read from the texts of a command line.
public struct ValueForm<Value: Sendable>: Sendable {
    /// Completes "must be".
    let requirement: String
    let values: [String]
    let read: @Sendable (String) -> Value?

    /// - Parameters:
    ///   - requirement: completes "--option must be".
    ///   - values: every text that can be read, for the help; empty if there are too many.
    ///   - read: nil for a text that is none.
    public init(requirement: String, values: [String] = [], read: @escaping @Sendable (String) -> Value?) {
        self.requirement = requirement
        self.values = values
        self.read = read
    }
}

extension ValueForm<String> {
    /// Any text but the empty one, which is mostly a variable that was not set.
    public static var text: Self { ValueForm(requirement: "a text, not empty") { $0.isEmpty ? nil : $0 } }
}

extension ValueForm {
    /// A whole number of a range.
    public static func integer(_ range: ClosedRange<Value>) -> Self where Value: FixedWidthInteger {
        ValueForm(requirement: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            // The initializer alone would read a plus sign, too.
            guard text.first != "+", let number = Value(text), range.contains(number) else { return nil }
            return number
        }
    }

    /// One word of a closed set.
    public static func choice(_: Value.Type = Value.self) -> Self where Value: RawRepresentable<String> & CaseIterable {
        let words = Value.allCases.map(\.rawValue)
        return ValueForm(requirement: "one of \(words.joined(separator: ", "))", values: words) { Value(rawValue: $0) }
    }
}

/// A named value: `--name value` or `--name=value`.
public struct Option<Value: Sendable>: Parameter {
    public private(set) var form: ParameterForm
    private let unmet: @Sendable (String) -> String?
    /// Nil if the texts make no value.
    let read: @Sendable ([String]) -> Value?

    public func requirement(unmetBy text: String) -> String? { unmet(text) }

    private init<Element>(
        _ name: String, _ value: ValueForm<Element>, _ help: String, read: @escaping @Sendable ([String]) -> Value?
    ) {
        form = ParameterForm(kind: .option, name: name, help: help)
        if !value.values.isEmpty { form.remark = "(values: \(value.values.joined(separator: ", ")))" }
        unmet = { value.read($0) == nil ? value.requirement : nil }
        self.read = read
    }

    /// An option that must be given.
    public static func required(_ name: String, _ value: ValueForm<Value>, help: String) -> Self {
        var option = Self(name, value, help) { $0.last.flatMap(value.read) }
        option.form.isRequired = true
        return option
    }

    /// An option that has a value if it is not given.
    ///
    /// - Parameter shown: the default as the help shows it.
    public init(_ name: String, _ value: ValueForm<Value>, default standard: Value, shown: String, help: String) {
        self.init(name, value, help) { $0.isEmpty ? standard : $0.last.flatMap(value.read) }
        form.remark += (form.remark.isEmpty ? "" : " ") + "(default: \(shown))"
    }

    /// An option that may be left out.
    public static func optional<Element>(
        _ name: String, _ value: ValueForm<Element>, help: String
    ) -> Self where Value == Element? {
        Self(name, value, help) { $0.last.map(value.read) ?? .some(nil) }
    }

    /// An option that may be given any number of times.
    public static func repeated<Element>(
        _ name: String, _ value: ValueForm<Element>, help: String
    ) -> Self where Value == [Element] {
        var option = Self(name, value, help) { $0.compactMap(value.read) }
        option.form.mayRepeat = true
        return option
    }

    /// The option with the word behind it as its value even if that begins with a hyphen, as ids of users may.
    public func takingHyphens() -> Self {
        var option = self
        option.form.takesHyphens = true
        return option
    }
}

/// An option without a value.
public struct Flag: Parameter {
    public let form: ParameterForm

    /// A flag that is off unless it is given.
    public init(_ name: String, help: String) { form = ParameterForm(kind: .flag, name: name, help: help) }

    public func requirement(unmetBy text: String) -> String? { nil }
}

/// A value that is known by its place.
public struct Argument<Value: Sendable>: Parameter {
    public private(set) var form: ParameterForm
    private let unmet: @Sendable (String) -> String?
    let read: @Sendable (String?) -> Value?

    public func requirement(unmetBy text: String) -> String? { unmet(text) }

    private init<Element>(
        _ name: String, _ value: ValueForm<Element>, _ help: String, read: @escaping @Sendable (String?) -> Value?
    ) {
        form = ParameterForm(kind: .argument, name: name, help: help)
        unmet = { value.read($0) == nil ? value.requirement : nil }
        self.read = read
    }

    /// An argument that must be given.
    public static func required(_ name: String, _ value: ValueForm<Value>, help: String) -> Self {
        var argument = Self(name, value, help) { $0.flatMap(value.read) }
        argument.form.isRequired = true
        return argument
    }

    /// An argument that may be left out.
    public static func optional<Element>(
        _ name: String, _ value: ValueForm<Element>, help: String
    ) -> Self where Value == Element? {
        Self(name, value, help) { $0.map(value.read) ?? .some(nil) }
    }
}
