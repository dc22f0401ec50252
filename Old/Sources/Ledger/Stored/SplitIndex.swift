/// Indexes of `submissions` of which those that wait have one of their own (schema 3 of both ledgers).
enum SplitIndex {
    /// A condition on such a column, spelled out for both kinds of rows, so that it finds both indexes.
    static func either(_ condition: String) -> String {
        """
        sequence IN (
            SELECT sequence FROM submissions WHERE \(condition) AND outcome NOT IN ('parked', 'held')
            UNION ALL SELECT sequence FROM submissions WHERE \(condition) AND outcome IN ('parked', 'held'))
        """
    }
}
