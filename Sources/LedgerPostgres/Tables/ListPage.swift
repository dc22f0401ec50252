import Contract
import Ledger

/// How the server finds the rows of a page. One plan for all values is made once, and planning takes longer than most
/// pages.
enum PagePlan {
    /// One plan. A filter leaves few rows, whatever its value: all are found, and put into order.
    case few
    /// One plan. An index has the rows of a filter in the page's order, few or many.
    case ordered
    /// A plan for each page, by the values: a rare one finds its index, and a frequent one the newest rows.
    case byValues
}

/// The values that a page may be narrowed by.
protocol NarrowedQuery {
    var submissionID: SubmissionID? { get }
    var transactionID: TransactionID? { get }
    var userID: UserID? { get }
    var orderID: OrderID? { get }
}

extension SubmissionQuery: NarrowedQuery {}
extension GrantQuery: NarrowedQuery {}

extension NarrowedQuery {
    /// Submissions and transactions never have many rows. A user may have any number, and so may an order's id that a
    /// backend gives to all.
    var plan: PagePlan {
        if submissionID != nil || transactionID != nil { return .few }
        return userID != nil || orderID != nil ? .ordered : .byValues
    }
}

/// The pages of a table with one form have one text, and differ in their values alone.
private struct PageForm: Hashable {
    let table: String
    let condition: String
    /// A parameter stands as `?` in each.
    let filters: [String]
    let plan: PagePlan
}

/// A page of a list, the newest first by the sequence of its table. Rows that are read as nil are left out.
struct ListPage<Row> {
    private let selection: String
    fileprivate let form: PageForm
    private let values: [String?]
    private let before: Int64
    private let limit: Int
    private let sequence: Int32
    fileprivate let read: (PostgresRow) -> Row?

    /// - Parameters:
    ///   - condition: Of all lists of the table.
    ///   - filters: Conditions, and the value of the parameter in each. One without a value is not part of the
    ///     statement, so that the others find their indexes.
    ///   - plan: How its filters find rows.
    ///   - sequence: The column of the sequence.
    init(
        _ selection: String, of table: String, where condition: String, before: Int64?, limit: Int,
        _ filters: [(String, value: String?)], plan: PagePlan, sequence: Int32, read: @escaping (PostgresRow) -> Row?
    ) {
        let filters = filters.filter { $0.value != nil }
        self.init(
            selection, PageForm(table: table, condition: condition, filters: filters.map(\.0), plan: plan),
            filters.map(\.value), before: before ?? .max, limit: limit, sequence: sequence, read: read)
    }

    private init(
        _ selection: String, _ form: PageForm, _ values: [String?], before: Int64, limit: Int, sequence: Int32,
        read: @escaping (PostgresRow) -> Row?
    ) {
        (self.selection, self.form, self.values) = (selection, form, values)
        (self.before, self.limit, self.sequence, self.read) = (before, limit, sequence, read)
    }

    // MARK: Statements

    /// The text of a page, with names for the sequence that it begins before, its limit and its values.
    private func sql(before: String, limit: String, value: (Int) -> String) -> String {
        let isBefore = "\(form.table).sequence < \(before)"
        // The planner assumes that a third of the table is before a value that it does not see. It would read the index
        // of the sequence for that.
        var conditions = [form.plan == .few ? "(\(isBefore)) IS TRUE" : isBefore, form.condition]
        for (index, filter) in form.filters.enumerated() {
            conditions.append(
                filter.split(separator: "?", omittingEmptySubsequences: false).joined(separator: value(index)))
        }
        return """
            \(selection) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(form.table).sequence DESC
            LIMIT \(limit)
            """
    }

    /// The statement of a page that has a plan of its own.
    fileprivate var statement: PostgresStatement {
        PostgresStatement(sql(before: "$1::bigint", limit: "$2::bigint") { "$\($0 + 3)::text" }) {
            $0.integer(before)
            $0.integer(limit)
            for value in values { $0.text(value) }
        }
    }

    /// One statement for this page and others of its form. Each row says in its last column whose it is.
    fileprivate func statement(with pages: [Self]) -> PostgresStatement {
        let arrays = values.indices.map { ", $\($0 + 3)::text[]" }.joined()
        let names = values.indices.map { "value_\($0), " }.joined()
        return PostgresStatement(
            """
            SELECT page.*, asked.place
            FROM unnest($1::bigint[], $2::bigint[]\(arrays)) WITH ORDINALITY AS asked (before, most, \(names)place)
            CROSS JOIN LATERAL (\(sql(before: "asked.before", limit: "asked.most") { "asked.value_\($0)" })) AS page
            """, each: pages, [.integer, .integer] + values.map { _ in .text }
        ) { page, row in
            row.integer(page.before)
            row.integer(page.limit)
            for value in page.values { row.text(value) }
        }
    }

    /// Which pages are asked for together: indices of an array, with each page with a plan of its own alone and last.
    fileprivate static func groups(_ pages: [Self]) -> [[Int]] {
        let together = Dictionary(grouping: pages.indices.filter { !pages[$0].isAlone }) { pages[$0].form }
        return together.values.sorted { $0[0] < $1[0] } + pages.indices.filter { pages[$0].isAlone }.map { [$0] }
    }

    /// Whether the server must see its values.
    fileprivate var isAlone: Bool { form.plan == .byValues }

    /// A page's rows in its order. The server need not keep it where it joins.
    fileprivate func ordered(_ rows: [PostgresRow]) -> [PostgresRow] {
        rows.sorted { $0.integer(sequence) > $1.integer(sequence) }
    }

    /// The rest that is still to be asked for. A page that is not full is the last one, so only the left out rows
    /// follow.
    fileprivate func rest(after rows: [PostgresRow], read count: Int) -> Self? {
        guard count < limit, rows.count == limit, let last = rows.last else { return nil }
        return Self(
            selection, form, values, before: last.integer(sequence), limit: limit - count, sequence: sequence,
            read: read)
    }

    /// The same page, its rows as something else.
    func map<Other>(_ change: @escaping (Row) -> Other) -> ListPage<Other> {
        ListPage<Other>(
            selection, form, values, before: before, limit: limit, sequence: sequence,
            read: { row in read(row).map(change) })
    }
}

extension PostgresConnection {
    /// The rows of several pages, asked for in one round trip, and in more where rows were left out. Needs an open
    /// transaction, which plans by values from the first page on that needs it.
    func rows<Row>(_ pages: [ListPage<Row>]) throws(PostgresFailure) -> [[Row]] { try rows(pages, with: []).rows }

    /// The same, and the results of other statements, which go with the first round trip.
    func rows<Row>(
        _ pages: [ListPage<Row>], with others: [PostgresStatement]
    ) throws(PostgresFailure) -> (results: [PostgresResult], rows: [[Row]]) {
        var rows = [[Row]](repeating: [], count: pages.count)
        var open = Array(pages.enumerated())
        var results: [PostgresResult]?
        while results == nil || !open.isEmpty {
            let (others, found) = try found(open.map(\.element), with: results == nil ? others : [])
            results = results ?? others
            open = zip(open, found).compactMap { page, found in
                let read = found.compactMap(page.element.read)
                rows[page.offset] += read
                return page.element.rest(after: found, read: read.count).map { (page.offset, $0) }
            }
        }
        return (results ?? [], rows)
    }

    func rows<Row>(_ page: ListPage<Row>) throws(PostgresFailure) -> [Row] { try rows([page]).first ?? [] }

    private func found<Row>(
        _ pages: [ListPage<Row>], with others: [PostgresStatement]
    ) throws(PostgresFailure) -> (others: [PostgresResult], pages: [[PostgresRow]]) {
        let groups = ListPage.groups(pages)
        var statements = groups.map { group in
            let page = pages[group[0]]
            return page.isAlone ? page.statement : page.statement(with: group.map { pages[$0] })
        }
        let first = groups.firstIndex { pages[$0[0]].isAlone }
        if let first {
            statements.insert(PostgresStatement("SET LOCAL plan_cache_mode = force_custom_plan"), at: first)
        }
        var results = try run(others + statements)
        let otherResults = Array(results.prefix(others.count))
        results.removeFirst(others.count)
        if let first { results.remove(at: first) }
        var found = [[PostgresRow]](repeating: [], count: pages.count)
        for (group, result) in zip(groups, results) {
            guard !pages[group[0]].isAlone else {
                found[group[0]] = Array(result.rows)
                continue
            }
            for row in result.rows { found[group[Int(row.integer(result.lastColumn)) - 1]].append(row) }
            for place in group { found[place] = pages[place].ordered(found[place]) }
        }
        return (otherResults, found)
    }
}
