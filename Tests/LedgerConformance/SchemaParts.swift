import Contract
import Cryptography
public import Ledger

/// A column, an index or a constraint, as a database's own catalogue has it.
public struct SchemaPart: Hashable, Sendable, CustomStringConvertible {
    public let kind: String
    public let table: String
    public let name: String
    public let definition: String
    /// Whether a row of a former version can break it: a column without a default, a unique index, a check.
    public let demands: Bool

    public init(_ kind: String, _ table: String, _ name: String, _ definition: String, demands: Bool) {
        self.kind = kind
        self.table = table
        self.name = name
        self.definition = definition
        self.demands = demands
    }

    /// Such as "column grants.price".
    public var description: String { "\(kind) \(table).\(name)" }
}

extension Set<SchemaPart> {
    /// Changes of a step that programs of the version before may not be able to work with. The step takes a part away,
    /// changes one, or demands something new of the rows that they write.
    /// - Parameter parting: Parts that no program of the version before uses any more.
    public func breaks(_ before: Set<SchemaPart>, parting: Set<String> = []) -> Set<String> {
        let tables = Set<String>(before.map(\.table))
        let gone = before.subtracting(self).map(\.description)
        let demanded = subtracting(before).filter { $0.demands && tables.contains($0.table) }.map(\.description)
        return Set<String>(gone + demanded).subtracting(parting)
    }
}

extension Migrations {
    /// The steps up to a version.
    public func through(_ version: Int) -> Migrations { Migrations(steps.filter { $0.version <= version }) }

    /// Steps that were changed, each with its remedy.
    /// - Parameter known: The first 16 digits of the SHA-256 of each step's SQL, by its version.
    public func changes(since known: [String]) -> [String] {
        steps.enumerated().compactMap { index, step in
            let digest = SHA256.hash(step.sql.utf8).hex.prefix(16)
            guard index < known.count else {
                return "step \(step.version) is new: add its digest, \(digest), to the list of this test"
            }
            guard known[index] != digest else { return nil }
            return "step \(step.version) has changed. If a release has had it, ledgers have its former form for ever: "
                + "take the change back, and add a step (docs/versions.md, Steps of the schema). If none has, its digest "
                + "is \(digest) now"
        }
    }

    /// These steps and one more.
    public func adding(_ sql: String) -> Migrations { Migrations(steps + [Migration(newest + 1, "one more", sql)]) }
}

/// Rows of former versions, as a release with that schema wrote them. A step that is added comes with rows of the
/// version before.
public struct FormerRow: Sendable {
    /// A value as SQL has it. Databases differ in how they write bytes.
    public enum Value: Sendable {
        case sql(String)
        case bytes(hex: String)
    }

    public let table: String
    public let columns: [String]
    public let values: [Value]

    init(_ table: String, _ values: KeyValuePairs<String, Value>) {
        self.table = table
        columns = values.map(\.key)
        self.values = values.map(\.value)
    }

    /// - Parameter bytes: Writes bytes from their hexadecimal form.
    public func insertion(_ bytes: (String) -> String) -> String {
        let texts = values.map { value in
            switch value {
            case .sql(let text): text
            case .bytes(let hex): bytes(hex)
            }
        }
        return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(texts.joined(separator: ", ")))"
    }

    /// By the schema's version: a row of each table that holds what must not be lost.
    public static let all = [1: version1]

    private static let version1: [FormerRow] = [
        FormerRow(
            "consumer_group",
            [
                "one": "1", "name": "'grantor'", "cluster": "'cluster-1'",
                "topics": "'receipts.submitted,purchases.granted,purchases.failed,receipts.quarantined'",
            ]),
        FormerRow(
            "partitions",
            [
                "topic": "'receipts.submitted'", "partition": "3", "owner": "'worker'", "generation": "1",
                "next_offset": "8", "starts": "1",
            ]),
        FormerRow(
            "products",
            [
                "number": "1", "app": "'com.example.game'", "product_id": "'com.example.gems'",
                "type": "'consumable'", "items": "'100:4:gems'",
            ]),
        FormerRow(
            "grants",
            [
                "environment": "0", "transaction_id": "'1'", "product": "1", "quantity": "1", "purchased_at": moment,
                "price": "990", "currency": "'EUR'", "storefront": "'DEU'", "verified_by": "'1'",
                "submission_id": "'s1'", "user_id": "'player-1'", "order_id": "'o1'", "traceparent": "'00-1'",
                "origin_partition": "1", "origin_offset": "1", "received_at": moment, "granted_at": moment,
                "attempts": "1", "format": "1", "passed_over": "'transaction_revoked 1'",
            ]),
        FormerRow(
            "answers",
            [
                "app": "'com.example.game'", "submission_id": "'s2'", "user_id": "'player-1'",
                "origin_partition": "1", "origin_offset": "2", "answered_at": moment, "environment": "0",
                "transaction_id": "'1'",
            ]),
        FormerRow(
            "answers",
            [
                "app": "'com.example.game'", "submission_id": "'s3'", "user_id": "'player-1'",
                "origin_partition": "1", "origin_offset": "3", "answered_at": moment,
                "reason": "'receipt_not_authentic'", "detail": "'Said so.'", "digest": .bytes(hex: digest),
                "attempts": "2", "format": "1",
            ]),
        FormerRow(
            "retries",
            [
                "digest": .bytes(hex: digest), "app": "'com.example.game'", "submission_id": "'s4'",
                "user_id": "'player-1'", "origin_partition": "1", "origin_offset": "4", "received_at": moment,
                "cause": "'unreachable'", "detail": "'Nothing was heard.'",
                "endpoint": "'verifyReceipt/production/'", "due_at": moment, "attempts": "1", "bytes": "12",
                "evidence_kind": "'receipt'", "evidence": .bytes(hex: "636d566a5a576c776441"), "signed": "0",
            ]),
        FormerRow(
            "outbox",
            [
                "key": "'granted:production:1'", "step": "'publish'", "target": "'topic:granted'", "due_at": moment,
                "owed_since": moment,
                "attempts": "1",
            ]),
        FormerRow(
            "operator_actions",
            [
                "kind": "'retry'", "actor": "'kim'", "reason": "'Tried.'", "done_at": moment,
                "app": "'com.example.game'", "submission_id": "'s4'",
            ]),
        FormerRow(
            "workers",
            ["id": "1", "name": "'host/1'", "version": "'0.1.0'", "started_at": moment, "seen_at": moment]),
    ]

    private static let moment = Value.sql("\(Samples.noon.milliseconds)")
    private static let digest = String(repeating: "ab", count: 32)
}

extension FormerRow.Value: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self = .sql(text) }
}
