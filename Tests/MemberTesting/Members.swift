import Contract

/// The members of a value, as reflection finds them: also those that a comparison, a copy or a row has forgotten.
public enum Members {
    /// A value's own members by name; the values of a case by the case's name.
    public static func named(_ value: Any) -> [String: Any] {
        Dictionary(Mirror(reflecting: value).children.map { ($0.label ?? "", $0.value) }) { first, _ in first }
    }

    /// Members at any depth that say nothing: nil, empty, zero, false, or the first of several words. A sample without
    /// any shows of each member whether it survives.
    /// - Parameter except: Names of members that are not looked at.
    public static func silent(in value: Any, except: Set<String> = []) -> [String] {
        leaves(of: value, except: except).filter { $0.value == nil }.keys.sorted()
    }

    /// Members at any depth in which two values differ, whatever their `==` says.
    public static func differing(_ left: Any, _ right: Any, except: Set<String> = []) -> [String] {
        let (left, right) = (leaves(of: left, except: except), leaves(of: right, except: except))
        return Set(left.keys).union(right.keys).filter { left[$0] != right[$0] }.sorted()
    }

    /// All texts in a value.
    public static func texts(in value: Any) -> [String] {
        if let text = value as? String { return [text] }
        return Mirror(reflecting: value).children.flatMap { texts(in: $0.value) }
    }

    /// The values at the end of each way through members, as text; nil for one that says nothing.
    private static func leaves(of value: Any, except: Set<String>) -> [String: String?] {
        var leaves: [String: String?] = [:]
        walk(value, at: "", except, into: &leaves)
        return leaves
    }

    private static func walk(_ value: Any, at path: String, _ except: Set<String>, into leaves: inout [String: String?])
    {
        let mirror = Mirror(reflecting: value)
        var children = Array(mirror.children)
        switch mirror.displayStyle {
        case .optional:
            guard let content = children.first else { return leaves[path] = .some(nil) }
            return walk(content.value, at: path, except, into: &leaves)
        // Texts of evidence are read as a whole, and dictionaries have no order.
        case .collection where value is ArraySlice<UInt8>:
            return leaves[path] = .some(children.isEmpty ? nil : "\(children.map(\.value))")
        case .dictionary, .set: children.sort { "\($0.value)" < "\($1.value)" }
        default: break
        }
        guard !children.isEmpty else { return leaves[path] = .some(saysNothing(value, mirror) ? nil : "\(value)") }
        let isWrapper = mirror.displayStyle == .struct && children.count == 1
        for (index, child) in children.enumerated() {
            let name = child.label ?? "\(index)"
            if !except.contains(name) {
                let separator = path.isEmpty || isWrapper ? "" : "."
                walk(child.value, at: isWrapper ? path : path + separator + name, except, into: &leaves)
            }
        }
    }

    private static func saysNothing(_ value: Any, _ mirror: Mirror) -> Bool {
        switch value {
        case let text as String: return text.isEmpty
        // Every row has its format.
        case is EventFormat: return false
        case let flag as Bool: return !flag
        case is any BinaryInteger: return "\(value)" == "0"
        case let word as any (CaseIterable & Equatable): return isFirst(word)
        default: return mirror.displayStyle == .collection || mirror.displayStyle == .dictionary
        }
    }

    /// A row often has the first word as no word at all.
    private static func isFirst<Word: CaseIterable & Equatable>(_ word: Word) -> Bool {
        Word.allCases.count > 1 && Word.allCases.first == word
    }
}
