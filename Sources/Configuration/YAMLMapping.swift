import CommandParser

/// A mapping of a YAML file, read strictly: unknown members, other types and empty values are errors that name file,
/// line and member.
struct YAMLMapping {
    static let maxFileBytes = 1 << 20

    private let file: String
    private let path: String
    private let line: Int?
    private let members: [YAMLNode.Member]

    /// Reads the root of a file; a file without values is an empty mapping.
    init(file: String, namedBy place: ConfigurationError.Place?) throws(ConfigurationError) {
        try self.init(text: try TextFile.read(file, maxBytes: Self.maxFileBytes, namedBy: place), file: file)
    }

    init(text: String, file: String) throws(ConfigurationError) {
        let root = try YAMLDocument.read(text, file: file)
        try self.init(root ?? YAMLNode(content: .mapping([]), line: 1), file: file, path: "")
    }

    private init(_ node: YAMLNode, file: String, path: String) throws(ConfigurationError) {
        guard case .mapping(let members) = node.content else {
            throw .refused(
                .member(file: file, line: node.line, path: path), requirement: "a mapping of names to values")
        }
        self.file = file
        self.path = path
        line = path.isEmpty ? nil : node.line
        self.members = members
    }

    var names: [String] { members.map(\.name) }

    /// Where a member stands, or is missing.
    func place(_ name: String) -> ConfigurationError.Place {
        .member(file: file, line: member(name)?.line ?? line, path: path.isEmpty ? name : "\(path).\(name)")
    }

    /// Where an element of a member's list stands.
    func place(_ name: String, at index: Int) -> ConfigurationError.Place {
        guard case .member(let file, let line, let path) = place(name) else { return place(name) }
        var elementLine = line
        if case .sequence(let nodes) = node(name)?.content, nodes.indices.contains(index) {
            elementLine = nodes[index].line
        }
        return .member(file: file, line: elementLine, path: "\(path)[\(index)]")
    }

    /// Refuses members of any other name.
    func allow(_ known: Set<String>) throws(ConfigurationError) {
        for name in names where !known.contains(name) { throw .unknownMember(place(name)) }
    }

    /// The member's text; nil if it is absent. Numbers and truth values are texts, too.
    func text(_ name: String) throws(ConfigurationError) -> String? {
        guard let node = node(name) else { return nil }
        return try Self.text(node, place(name))
    }

    /// The member's value in a form; nil if it is absent.
    func value<Value>(_ name: String, _ form: ValueForm<Value>) throws(ConfigurationError) -> Value? {
        guard let text = try text(name) else { return nil }
        guard let value = form.read(text) else { throw .refused(place(name), requirement: form.requirement) }
        return value
    }

    /// The value of a member that must be there.
    func required<Value>(_ name: String, _ form: ValueForm<Value>) throws(ConfigurationError) -> Value {
        guard let value = try value(name, form) else {
            throw .refused(place(name), requirement: "set: \(form.requirement)")
        }
        return value
    }

    func mapping(_ name: String) throws(ConfigurationError) -> YAMLMapping? {
        guard let node = node(name), case .member(_, _, let path) = place(name) else { return nil }
        return try YAMLMapping(node, file: file, path: path)
    }

    func isScalar(_ name: String) -> Bool {
        if case .scalar = node(name)?.content { true } else { false }
    }

    /// The member's list of texts; nil if it is absent.
    func texts(_ name: String) throws(ConfigurationError) -> [String]? {
        guard let nodes = try list(name) else { return nil }
        var texts: [String] = []
        for (index, node) in nodes.enumerated() { texts.append(try Self.text(node, place(name, at: index))) }
        return texts
    }

    /// The member's list of mappings; nil if it is absent.
    func mappings(_ name: String) throws(ConfigurationError) -> [YAMLMapping]? {
        guard let nodes = try list(name) else { return nil }
        var mappings: [YAMLMapping] = []
        for (index, node) in nodes.enumerated() {
            guard case .member(_, _, let path) = place(name, at: index) else { continue }
            mappings.append(try YAMLMapping(node, file: file, path: path))
        }
        return mappings
    }

    private func list(_ name: String) throws(ConfigurationError) -> [YAMLNode]? {
        guard let node = node(name) else { return nil }
        guard case .sequence(let nodes) = node.content else { throw .refused(place(name), requirement: "a list") }
        return nodes
    }

    private func node(_ name: String) -> YAMLNode? { member(name)?.value }

    private func member(_ name: String) -> YAMLNode.Member? { members.first { $0.name == name } }

    private static func text(
        _ node: YAMLNode, _ place: ConfigurationError.Place
    ) throws(ConfigurationError) -> String {
        guard case .scalar(let text, let isNull) = node.content else {
            throw .refused(place, requirement: "a single value")
        }
        guard !isNull else { throw .refused(place, requirement: "set, not empty") }
        return try CheckedText.check(text, place)
    }
}
