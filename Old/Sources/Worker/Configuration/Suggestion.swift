/// Finds what somebody may have meant.
enum Suggestion {
    /// Longest name that is compared; a longer one gets no suggestion.
    private static let maxLength = 64

    /// The candidate that takes the fewest edits, if they are few for a name of that length.
    static func nearest(to name: String, among candidates: some Sequence<String>) -> String? {
        guard name.count <= maxLength else { return nil }
        let limit = max(1, min(4, name.count / 3))
        let written = Array(name.lowercased())
        let ranked = candidates.map { (distance: edits(written, Array($0.lowercased())), name: $0) }
        return ranked.filter { $0.distance <= limit }.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
    }

    /// Levenshtein's distance: insertions, deletions and replacements that turn one into the other.
    private static func edits(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (character == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
