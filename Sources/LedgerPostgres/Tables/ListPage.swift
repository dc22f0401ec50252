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

/// A page of a list, the newest first by the sequence of its table. Rows that are read as nil are left out.
struct ListPage<Row> {
    private let sql: String
    private let values: [String?]
    private let before: Int64
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
        // The planner thinks that a third of the table is before a value that it does not see. It would read the index
        // of the sequence for that.
        var conditions = [plan == .few ? "(\(isBefore)) IS TRUE" : isBefore, condition]
        for (index, filter) in filters.enumerated() {
            conditions.append(filter.0.replacing("?", with: "$\(index + 3)::text"))
        }
        sql = """
            \(selection) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(table).sequence DESC
            LIMIT $2::bigint
            """
        values = filters.map(\.value)
        (self.before, self.limit, self.sequence, self.read) = (before ?? .max, limit, sequence, read)
        self.plan = plan
    }

    fileprivate func statement(_ rest: Rest? = nil) -> PostgresStatement {
        PostgresStatement(sql) {
            $0.integer(rest?.before ?? before)
            $0.integer(rest?.limit ?? limit)
            for value in values { $0.text(value) }
        }
    }

    fileprivate struct Rest {
        let before: Int64
        let limit: Int
    }

    /// The rest that is still to be asked for. A page that is not full is the last one, so as many rows follow as were
    /// left out.
    fileprivate func rest(_ rows: [Row], after result: PostgresResult, asked: Int) -> Rest? {
        guard rows.count < limit, result.rowCount == asked, let last = result.rows.suffix(1).first else { return nil }
        return Rest(before: last.integer(sequence), limit: limit - rows.count)
    }

    /// The same page, its rows as something else.
    func map<Other>(_ change: @escaping (Row) -> Other) -> ListPage<Other> {
        ListPage<Other>(
            sql: sql, values: values, before: before, limit: limit, sequence: sequence,
            read: { row in read(row).map(change) }, plan: plan)
    }

    private init(
        sql: String, values: [String?], before: Int64, limit: Int, sequence: Int32,
        read: @escaping (PostgresRow) -> Row?, plan: PagePlan
    ) {
        (self.sql, self.values, self.before, self.limit) = (sql, values, before, limit)
        (self.sequence, self.read, self.plan) = (sequence, read, plan)
    }
}

extension PostgresConnection {
    /// The rows of several pages, all asked for in one round trip. Needs an open transaction, which plans by values
    /// from there on.
    func rows<Row>(_ pages: [ListPage<Row>]) throws(PostgresFailure) -> [[Row]] {
        let byValues = PostgresStatement("SET LOCAL plan_cache_mode = force_custom_plan")
        let order =
            pages.indices.filter { pages[$0].plan != .byValues } + pages.indices.filter { pages[$0].plan == .byValues }
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
}
