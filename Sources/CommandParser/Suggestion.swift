/// The known word that a misspelt one may mean.
enum Suggestion {
    /// Longest word that is compared.
    private static let mostLetters = 40

    /// The known word that is closest to a misspelt one, the first of several; nil if none is close. A known word is
    /// close if it takes few changes: one for each three letters, at most three. From three letters on, it is also
    /// close if it begins with the word.
    static func closest(to word: String, of known: [String]) -> String? {
        let letters = Array(word)
        guard (2...mostLetters).contains(letters.count) else { return nil }
        let most = min(3, max(1, letters.count / 3))
        let near = known.enumerated().map { (changes: changes(letters, Array($1)), place: $0, word: $1) }
            .filter { $0.changes <= most }.min { ($0.changes, $0.place) < ($1.changes, $1.place) }
        if let near { return near.word }
        return letters.drop { $0 == "-" }.count >= 3 ? known.first { $0.hasPrefix(word) } : nil
    }

    /// The least number of letters to put in, to leave out, to replace, or to exchange with their neighbours.
    private static func changes(_ from: [Character], _ to: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...to.count)
        for (row, letter) in from.enumerated() {
            var line = [row + 1]
            for (column, other) in to.enumerated() {
                var least = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, line[column] + 1)
                if row > 0, column > 0, letter == to[column - 1], from[row - 1] == other {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                line.append(least)
            }
            (beforeLast, last) = (last, line)
        }
        return last[to.count]
    }
}
