import Contract
import Ledger

/// A table as a sample counts it, and the questions of a sample. Some are about `retries`, the others about `outbox`.
struct SampledTable {
    let name: String
    /// Differs for each sample, so that no row is left out for ever.
    let seed: Int64
    /// The part of its pages that are read; nil for all its rows.
    var part: Double?
    /// Whether all its pages are read in their order. Else its rows are found by an index, because most of its pages
    /// may be empty.
    var readsPages = true

    var isWhole: Bool { part == nil }

    /// Stands for its name. All statements of a sample read the same pages, so that they come from the disk once.
    private var source: String {
        part.map { "\(name) TABLESAMPLE SYSTEM (\($0 * 100)) REPEATABLE (\(seed))" } ?? name
    }

    /// Goes before its questions.
    var setting: PostgresStatement {
        PostgresStatement("SET LOCAL enable_seqscan = \(readsPages ? "on" : "off")")
    }

    /// The number of all rows, by that of those that were read.
    private func whole(_ count: Int64) -> Int { Int(part.map { (Double(count) / $0).rounded() } ?? Double(count)) }

    // MARK: retries

    /// Rows of `retries` by app, and by the endpoint that they wait for; nil for held ones.
    struct Waiting {
        var apps: [LedgerMeasure.App] = []
        var endpoints: [String?: (rows: Int, oldest: Int64?)] = [:]
        /// The latest due time.
        var last = Int64.min

        var byEndpoint: [LedgerMeasure.Waiting] {
            endpoints.sorted { ($0.key ?? "") < ($1.key ?? "") }.map { endpoint, found in
                LedgerMeasure.Waiting(
                    endpoint: endpoint.flatMap { Endpoint(text: $0) }, rows: found.rows,
                    oldest: found.oldest.map { Timestamp(milliseconds: $0) })
            }
        }

        /// Rows for endpoints that only a later version knows.
        var later: Int {
            endpoints.reduce(0) { count, entry in
                entry.key.map { Endpoint(text: $0) == nil } ?? false ? count + entry.value.rows : count
            }
        }
    }

    var waits: PostgresQuestion<Waiting> {
        let statement = PostgresStatement(
            """
            SELECT app, endpoint, count(*), sum(bytes)::bigint, max(due_at), min(received_at)
            FROM \(source) GROUP BY app, endpoint ORDER BY app
            """)
        return PostgresQuestion(statement) { result in
            var waiting = Waiting()
            for row in result.rows {
                let (app, endpoint): (BundleID, String?) = (row.identifier(0), row.optionalText(1))
                let (rows, bytes) = (whole(row.integer(2)), Int64(whole(row.integer(3))))
                let before = waiting.apps.last?.bundleID == app ? waiting.apps.removeLast() : nil
                waiting.apps.append(
                    LedgerMeasure.App(
                        bundleID: app, rows: rows + (before?.rows ?? 0), bytes: bytes + (before?.bytes ?? 0)))
                let found = waiting.endpoints[endpoint]
                waiting.endpoints[endpoint] = ((found?.rows ?? 0) + rows, min(found?.oldest ?? .max, row.integer(5)))
                waiting.last = max(waiting.last, row.integer(4))
            }
            return waiting
        }
    }

    /// Rows that only a later version can read. All are counted: an index has them.
    var later: PostgresQuestion<Int> {
        PostgresQuestion(PostgresStatement("SELECT count(*) FROM retries WHERE NOT \(RetryColumns.isKnown)")) {
            $0.first?.int(0) ?? 0
        }
    }

    /// Held rows by group, from rows of the groups' details.
    var held: PostgresQuestion<[LedgerMeasure.Held]> { held(in: source, whole) }

    /// Most rows of ``firstHeld``.
    static let mostHeld = 10_000

    /// The same of the held rows that are due first, by their index: mostly of all, because few wait for a person.
    var firstHeld: PostgresQuestion<[LedgerMeasure.Held]> {
        held(
            in: """
                (SELECT app, cause, detail, received_at, endpoint FROM retries WHERE endpoint IS NULL
                ORDER BY due_at, sequence LIMIT \(Self.mostHeld)) AS first
                """
        ) { Int($0) }
    }

    private func held(
        in source: String, _ whole: @escaping (Int64) -> Int
    ) -> PostgresQuestion<[LedgerMeasure.Held]> {
        let statement = PostgresStatement(
            """
            SELECT app, cause, detail, whole, oldest FROM (
                SELECT app, cause, detail,
                    (sum(count(*)) OVER (PARTITION BY app, cause))::bigint AS whole,
                    min(min(received_at)) OVER (PARTITION BY app, cause) AS oldest,
                    row_number() OVER (PARTITION BY app, cause ORDER BY count(*) DESC, detail) AS place
                FROM \(source) WHERE endpoint IS NULL GROUP BY app, cause, detail) AS details
            WHERE place <= \(LedgerMeasure.Held.maxDetails) ORDER BY app, cause, place
            """)
        return PostgresQuestion(statement) { result in
            var groups: [(app: BundleID, cause: String, rows: Int, details: [String], oldest: Timestamp)] = []
            for row in result.rows {
                let (app, cause): (BundleID, String) = (row.identifier(0), row.text(1))
                if groups.last.map({ $0.app != app || $0.cause != cause }) ?? true {
                    groups.append((app, cause, whole(row.integer(3)), [], row.time(4)))
                }
                groups[groups.count - 1].details.append(row.text(2))
            }
            return groups.map {
                LedgerMeasure.Held(
                    $0.app, HoldCause(rawValue: $0.cause) ?? .unknownAnswer, rows: $0.rows, $0.details,
                    oldest: $0.oldest)
            }
        }
    }

    // MARK: outbox

    /// Owed events, since when the oldest is owed, the latest due time of all rows, and rows of a later version.
    var events: PostgresQuestion<(rows: Int, since: Int64?, last: Int64, later: Int)> {
        let isOfLaterVersion = "NOT (\(OutboxColumns.isShown))"
        // Events are counted also where calls are too many. They are few, because a worker stops while many are owed.
        let topics = Topic.outputs.map { OutboxTarget.topic($0).text }.joined(separator: ",")
        let sampled = """
            SELECT events.rows, events.since, sample.due, sample.later
            FROM (
                SELECT count(*) AS rows, min(owed_since) AS since FROM outbox
                WHERE target = ANY ('{\(topics)}'::text[])) AS events,
                (SELECT max(due_at) AS due, count(*) FILTER (WHERE \(isOfLaterVersion)) AS later
                    FROM \(source)) AS sample
            """
        let all = """
            SELECT count(*) FILTER (WHERE step <> 'call'), min(owed_since) FILTER (WHERE step <> 'call'), max(due_at),
                count(*) FILTER (WHERE \(isOfLaterVersion))
            FROM outbox
            """
        return PostgresQuestion(PostgresStatement(isWhole ? all : sampled)) { result in
            guard let row = result.first else { return (0, nil, .min, 0) }
            return (row.int(0), row.optionalInteger(1), row.optionalInteger(2) ?? .min, whole(row.integer(3)))
        }
    }

    /// Owed calls by their target, and since when the oldest that was not refused is owed.
    var calls: PostgresQuestion<[(target: String, rows: Int, refused: Int, oldest: Int64?)]> {
        let statement = PostgresStatement(
            """
            SELECT target, count(*), count(*) FILTER (WHERE \(ServiceAnswer.isRefusalInSQL)),
                min(owed_since) FILTER (WHERE (\(ServiceAnswer.isRefusalInSQL)) IS NOT TRUE)
            FROM \(source) WHERE step = 'call' GROUP BY target ORDER BY target
            """)
        return PostgresQuestion(statement) { result in
            result.rows.map { row in
                (row.text(0), whole(row.integer(1)), whole(row.integer(2)), row.optionalInteger(3))
            }
        }
    }
}
