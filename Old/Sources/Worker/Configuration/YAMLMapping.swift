import Yams

/// A mapping of a YAML file, read strictly: unknown members, other types and empty values are errors that name
/// file, line and member.
struct YAMLMapping {
    private let file: String
    private let path: String
    private let line: Int?
    private let members: [(name: String, node: Node)]

    /// Reads the root of a document.
    ///
    /// - Parameter text: an empty document is an empty mapping.
    init(document text: String, file: String) throws(ConfigurationError) {
        let root: Node?
        do {
            root = try Parser(yaml: text).singleRoot()
        } catch {
            throw Self.syntaxError(error, file: file)
        }
        try self.init(root ?? .mapping(Node.Mapping([])), file: file, path: "")
    }

    private init(_ node: Node, file: String, path: String) throws(ConfigurationError) {
        let place = ConfigurationError.Place(file: file, line: node.mark?.line, member: path)
        guard case .mapping(let mapping) = node else {
            throw .invalidMember(place, requirement: "a mapping of names to values")
        }
        var members: [(String, Node)] = []
        for (key, value) in mapping {
            guard case .scalar(let scalar) = key else {
                throw .invalidMember(place, requirement: "a mapping whose names are texts")
            }
            members.append((scalar.string, value))
        }
        self.file = file
        self.path = path
        self.line = node.mark?.line
        self.members = members
    }

    /// The members' names, in the file's order.
    var names: [String] { members.map(\.name) }

    /// Where a member is, or where it is missing.
    func place(_ name: String) -> ConfigurationError.Place {
        ConfigurationError.Place(
            file: file, line: node(name)?.mark?.line ?? line, member: path.isEmpty ? name : "\(path).\(name)")
    }

    /// Where an element of a member's list is.
    func place(_ name: String, at index: Int) -> ConfigurationError.Place {
        let list = place(name)
        guard case .sequence(let sequence) = node(name), sequence.indices.contains(index) else { return list }
        return element(name, index, sequence[index])
    }

    /// Refuses members of any other name.
    func allow(_ known: [String]) throws(ConfigurationError) {
        for name in names where !known.contains(name) {
            throw .unknownMember(place(name), suggestion: Suggestion.nearest(to: name, among: known))
        }
    }

    /// Whether the member is itself a mapping.
    func isMapping(_ name: String) -> Bool {
        if case .mapping = node(name) { true } else { false }
    }

    /// The member's text; nil if it is absent. Numbers and truth values are texts too.
    func text(_ name: String) throws(ConfigurationError) -> String? {
        guard let node = node(name) else { return nil }
        return try Self.text(node, place(name))
    }

    /// The member's mapping; nil if it is absent.
    func mapping(_ name: String) throws(ConfigurationError) -> YAMLMapping? {
        guard let node = node(name) else { return nil }
        return try YAMLMapping(node, file: file, path: place(name).member)
    }

    /// The member's list of texts; nil if it is absent.
    func texts(_ name: String) throws(ConfigurationError) -> [String]? {
        guard let nodes = try list(name) else { return nil }
        var texts: [String] = []
        for (index, node) in nodes.enumerated() { texts.append(try Self.text(node, element(name, index, node))) }
        return texts
    }

    /// The member's list of mappings; nil if it is absent.
    func mappings(_ name: String) throws(ConfigurationError) -> [YAMLMapping]? {
        guard let nodes = try list(name) else { return nil }
        var mappings: [YAMLMapping] = []
        for (index, node) in nodes.enumerated() {
            mappings.append(try YAMLMapping(node, file: file, path: element(name, index, node).member))
        }
        return mappings
    }

    private func list(_ name: String) throws(ConfigurationError) -> [Node]? {
        guard let node = node(name) else { return nil }
        guard case .sequence(let sequence) = node else { throw .invalidMember(place(name), requirement: "a list") }
        return Array(sequence)
    }

    private func element(_ name: String, _ index: Int, _ node: Node) -> ConfigurationError.Place {
        ConfigurationError.Place(file: file, line: node.mark?.line, member: "\(place(name).member)[\(index)]")
    }

    private func node(_ name: String) -> Node? {
        members.first { $0.name == name }?.node
    }

    private static func text(_ node: Node, _ place: ConfigurationError.Place) throws(ConfigurationError) -> String {
        guard case .scalar(let scalar) = node else { throw .invalidMember(place, requirement: "a single value") }
        guard !scalar.string.isEmpty, node.null == nil else {
            throw .invalidMember(place, requirement: "set, not empty")
        }
        return scalar.string
    }

    /// Yams describes an error with the lines around it, which may hold a secret; only their number is kept.
    private static func syntaxError(_ error: any Error, file: String) -> ConfigurationError {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            .syntax(
                file: file, line: mark.line,
                problem:
                    "not YAML: \(problem)\(problem.contains("cannot start any token") ? " (a tab? use spaces)" : "")")
        case .duplicatedKeysInMapping(_, let context):
            .syntax(file: file, line: context.mark.line, problem: "a name is given twice in one mapping")
        default:
            .syntax(file: file, line: nil, problem: "not YAML")
        }
    }
}
