/// A value of a YAML document, with the line that it begins in.
struct YAMLNode: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        /// Numbers and truth values are texts, as written. `isNull`: nothing, `~` or `null`, without quotes.
        case scalar(String, isNull: Bool)
        case sequence([YAMLNode])
        /// In the file's order; no name twice.
        case mapping([Member])
    }

    struct Member: Hashable, Sendable {
        let name: String
        /// That of the name: a mapping or a list begins below it.
        let line: Int
        let value: YAMLNode
    }

    let content: Content
    let line: Int
}

/// Reads the one document of a YAML text into values.
///
/// Only what a configuration needs is read: mappings, sequences and scalars, at most ``maxDepth`` levels deep. Anchors,
/// aliases and tags are refused, and so are a second document and a name that a mapping has twice.
struct YAMLDocument: ~Copyable {
    /// libyaml itself has no limit, and its time grows with the square of the depth: 2.5 s at 32,000 levels.
    static let maxDepth = 32

    private let file: String
    private var events: YAMLEvents

    /// The root of a text; nil if there is nothing but comments.
    /// - Parameter file: the path, for errors.
    static func read(_ text: String, file: String) throws(ConfigurationError) -> YAMLNode? {
        let events: YAMLEvents
        do throws(YAMLEvents.Failure) {
            events = try YAMLEvents(text)
        } catch {
            throw .syntax(file: file, line: nil, problem: error.problem)
        }
        var document = YAMLDocument(file: file, events: events)
        return try document.root()
    }

    private init(file: String, events: consuming YAMLEvents) {
        self.file = file
        self.events = events
    }

    private mutating func root() throws(ConfigurationError) -> YAMLNode? {
        var root: YAMLNode?
        while true {
            let event = try next()
            switch event.kind {
            case .streamEnd: return root
            case .documentStart where root != nil: throw refused("a second document begins here", event)
            case .documentStart, .documentEnd, .other: continue
            default: root = try node(event, depth: 1)
            }
        }
    }

    private mutating func node(_ event: YAMLEvents.Event, depth: Int) throws(ConfigurationError) -> YAMLNode {
        guard depth <= Self.maxDepth else { throw refused("more than \(Self.maxDepth) levels are nested", event) }
        guard !event.hasAnchor else { throw refused("anchors and aliases are not read", event) }
        guard !event.hasTag else { throw refused("tags are not read", event) }
        switch event.kind {
        case .scalar(let text, let isPlain):
            let isNull = isPlain && ["", "~", "null", "Null", "NULL"].contains(text)
            return YAMLNode(content: .scalar(text, isNull: isNull), line: event.line)
        case .sequenceStart:
            var elements: [YAMLNode] = []
            while let element = try nextInside() { elements.append(try node(element, depth: depth + 1)) }
            return YAMLNode(content: .sequence(elements), line: event.line)
        case .mappingStart:
            return YAMLNode(content: .mapping(try members(depth: depth)), line: event.line)
        case .alias: throw refused("anchors and aliases are not read", event)
        case .end, .documentStart, .documentEnd, .streamEnd, .other: throw refused("a value is missing", event)
        }
    }

    private mutating func members(depth: Int) throws(ConfigurationError) -> [YAMLNode.Member] {
        var members: [YAMLNode.Member] = []
        var names: Set<String> = []
        while let event = try nextInside() {
            guard case .scalar(let name, isNull: false) = try node(event, depth: depth + 1).content else {
                throw refused("the name of a value is not a text", event)
            }
            guard names.insert(name).inserted else { throw refused("\(name) is given twice", event) }
            let value = try node(try next(), depth: depth + 1)
            members.append(YAMLNode.Member(name: name, line: event.line, value: value))
        }
        return members
    }

    private mutating func next() throws(ConfigurationError) -> YAMLEvents.Event {
        do throws(YAMLEvents.Failure) {
            return try events.next()
        } catch {
            // Tabs are the commonest mistake, and libyaml's sentence does not name them.
            let hint = error.problem.contains("cannot start any token") ? " (a tab? use spaces)" : ""
            throw .syntax(file: file, line: error.line, problem: "not YAML: \(error.problem)\(hint)")
        }
    }

    /// The next event of a sequence or mapping; nil at its end.
    private mutating func nextInside() throws(ConfigurationError) -> YAMLEvents.Event? {
        let event = try next()
        if case .end = event.kind { return nil }
        return event
    }

    private func refused(_ problem: String, _ event: YAMLEvents.Event) -> ConfigurationError {
        .syntax(file: file, line: event.line, problem: problem)
    }
}
