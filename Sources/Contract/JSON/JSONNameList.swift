/// Names of members that somebody looks for, found by their bytes: no name of a text becomes a string.
public struct JSONNameList: Sendable {
    /// All names, one after another: in arrays of their own each look would count references.
    private let text: [UInt8]
    private let places: [Range<Int>]

    /// A list of names, each of which stands for its place in the list.
    public init(_ names: [String]) {
        var text: [UInt8] = []
        places = names.map { name in
            let start = text.count
            text += name.utf8
            return start..<text.count
        }
        self.text = text
    }

    func index(of name: borrowing Span<UInt8>) -> Int? {
        let text = text.span
        for index in places.indices where places[index].count == name.count {
            if text.extracting(places[index]).isEqual(to: name) { return index }
        }
        return nil
    }
}
