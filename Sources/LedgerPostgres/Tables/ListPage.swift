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

    /// - Parameters:
    ///   - namesOneOfFew: Whether the page is narrowed by a submission or a transaction, which never have many rows.
    ///   - namesOwner: Whether it is narrowed by a user, who may have any number of rows, or by an order, whose id a
    ///     backend may give to all.
    fileprivate init(namesOneOfFew: Bool, namesOwner: Bool) {
        self = namesOneOfFew ? .few : namesOwner ? .ordered : .byValues
    }
}

extension SubmissionQuery {
    var plan: PagePlan {
        PagePlan(
            namesOneOfFew: submissionID != nil || transactionID != nil, namesOwner: userID != nil || orderID != nil)
    }
}

extension GrantQuery {
    var plan: PagePlan {
        PagePlan(
            namesOneOfFew: submissionID != nil || transactionID != nil, namesOwner: userID != nil || orderID != nil)
    }
}

/// A page of a list, the newest first by the sequence of its table. Rows that are read as nil are left out.
struct ListPage<Row> {
    private let table: String
    private let conditions: [String]
    private let sql: String
    private let values: [String?]
    private let before: Int64?
    fileprivate let limit: Int
    private let sequence: Int32
    fileprivate let read: (PostgresRow) -> Row?
    fileprivate let plan: PagePlan

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
        let isBefore = "\(table).sequence < $1::bigint"
        conditions = [condition] + filters.map(\.0)
        // Of a value that it does not see the planner thinks that a third of the table is before it, and would read the
        // index of the sequence for that.
        sql = """
            \(selection) WHERE \(plan == .few ? "(\(isBefore)) IS TRUE" : isBefore)
            AND \(Self.joined(conditions, behind: 2)) ORDER BY \(table).sequence DESC LIMIT $2::bigint
            """
        values = filters.map(\.value)
        (self.table, self.before, self.limit) = (table, before, limit)
        (self.sequence, self.read, self.plan) = (sequence, read, plan)
    }

    /// Conditions with their parameters, which stand behind so many others.
    private static func joined(_ conditions: [String], behind parameters: Int) -> String {
        var number = parameters
        return conditions.map { condition in
            if condition.contains("?") { number += 1 }
            return condition.replacing("?", with: "$\(number)::text")
        }.joined(separator: " AND ")
    }

    fileprivate func statement(_ rest: Rest? = nil) -> PostgresStatement {
        PostgresStatement(sql) {
            $0.integer(rest?.before ?? before ?? .max)
            $0.integer(rest?.limit ?? limit)
            for value in values { $0.text(value) }
        }
    }

    fileprivate struct Rest {
        let before: Int64
        let limit: Int
    }

    /// What is still to be asked for. A page that is not full is the last one, so as many rows follow as were left out.
    fileprivate func rest(_ rows: [Row], after result: PostgresResult, asked: Int) -> Rest? {
        guard rows.count < limit, result.rowCount == asked, let last = result.rows.suffix(1).first else { return nil }
        return Rest(before: last.integer(sequence), limit: limit - rows.count)
    }

    /// Whether a look for its first row costs less than it.
    fileprivate var isLookedFor: Bool { plan != .byValues && before == nil }

    /// Which of some pages have rows, one column for each. The statement costs a fraction of theirs: of the pages of a
    /// look for a word nearly all have none.
    fileprivate static func presence(of pages: [Self]) -> PostgresStatement {
        var values: [String?] = []
        let columns = pages.map { page in
            defer { values += page.values }
            return """
                EXISTS (SELECT 1 FROM \(page.table) WHERE \(joined(page.conditions, behind: values.count)))::int::bigint
                """
        }
        return PostgresStatement("SELECT \(columns.joined(separator: ", "))") {
            for value in values { $0.text(value) }
        }
    }

    /// The same page, its rows as something else.
    func map<Other>(_ change: @escaping (Row) -> Other) -> ListPage<Other> {
        ListPage<Other>(
            table: table, conditions: conditions, sql: sql, values: values, before: before, limit: limit,
            sequence: sequence, read: { row in read(row).map(change) }, plan: plan)
    }

    private init(
        table: String, conditions: [String], sql: String, values: [String?], before: Int64?, limit: Int,
        sequence: Int32, read: @escaping (PostgresRow) -> Row?, plan: PagePlan
    ) {
        (self.table, self.conditions, self.sql, self.values) = (table, conditions, sql, values)
        (self.before, self.limit, self.sequence, self.read, self.plan) = (before, limit, sequence, read, plan)
    }
}

extension PostgresConnection {
    /// Fewer pages are asked for at once.
    private static let fewestLookedFor = 4

    /// The rows of several pages, in two round trips at most. Needs an open transaction, which plans by values from there
    /// on.
    func rows<Row>(_ pages: [ListPage<Row>]) throws(PostgresFailure) -> [[Row]] {
        let present = try present(pages)
        let byValues = PostgresStatement("SET LOCAL plan_cache_mode = force_custom_plan")
        let order = present.filter { pages[$0].plan != .byValues } + present.filter { pages[$0].plan == .byValues }
        let first = order.firstIndex { pages[$0].plan == .byValues }
        var statements = order.map { pages[$0].statement() }
        if let first { statements.insert(byValues, at: first) }
        var results = try run(statements)
        if let first { results.remove(at: first) }
        var rows = [[Row]](repeating: [], count: pages.count)
        for (index, result) in zip(order, results) {
            let page = pages[index]
            rows[index] = result.rows.compactMap(page.read)
            var rest = page.rest(rows[index], after: result, asked: page.limit)
            while let next = rest {
                let result = try run(page.statement(next))
                rows[index] += result.rows.compactMap(page.read)
                rest = page.rest(rows[index], after: result, asked: next.limit)
            }
        }
        return rows
    }

    func rows<Row>(_ page: ListPage<Row>) throws(PostgresFailure) -> [Row] { try rows([page]).first ?? [] }

    /// The pages that may have rows.
    private func present<Row>(_ pages: [ListPage<Row>]) throws(PostgresFailure) -> [Int] {
        let lookedFor = pages.indices.filter { pages[$0].isLookedFor }
        guard lookedFor.count >= Self.fewestLookedFor else { return Array(pages.indices) }
        let row = try run(ListPage.presence(of: lookedFor.map { pages[$0] })).first
        let absent = zip(lookedFor, Int32(0)...).filter { row?.integer($0.1) == 0 }.map(\.0)
        return pages.indices.filter { !absent.contains($0) }
    }
}
