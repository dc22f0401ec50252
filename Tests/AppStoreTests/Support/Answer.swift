import Contract
import Foundation

/// Writes verifyReceipt answers.
enum Answer {
    /// A record with all values as texts, as Apple sends them; nil removes a member.
    static func record(
        _ transactionID: String = "1001", product: String = "gems", _ changes: [String: String?] = [:]
    ) -> String {
        var members = [
            "quantity": "1", "product_id": product, "transaction_id": transactionID,
            "original_transaction_id": transactionID, "purchase_date": "2026-11-21 04:59:02 Etc/GMT",
            "purchase_date_ms": "1795237142000", "is_trial_period": "false",
        ]
        for (name, value) in changes { members[name] = value }
        return "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",")
            + "}"
    }

    /// An auto-renewable period.
    static func period(_ transactionID: String, line: String, expires: Timestamp, _ changes: [String: String?] = [:])
        -> String
    {
        var members: [String: String?] = [
            "expires_date": "2026-12-21 04:59:02 Etc/GMT", "expires_date_ms": String(expires.milliseconds),
            "web_order_line_item_id": line,
        ]
        for (name, value) in changes { members.updateValue(value, forKey: name) }
        return record(transactionID, product: "vip", members)
    }

    /// An answer of status 0.
    static func authentic(
        environment: String = "Production", bundleID: String? = "com.example.game", inApp: [String] = [],
        latest: [String]? = nil, createdAt: Timestamp? = nil
    ) -> [UInt8] {
        let bundle = bundleID.map { "\"bundle_id\":\"\($0)\"," } ?? ""
        let latest = latest.map { ",\"latest_receipt_info\":[\($0.joined(separator: ","))]" } ?? ""
        let created = createdAt.map { "\"receipt_creation_date_ms\":\"\($0.milliseconds)\"," } ?? ""
        let receipt = "{\(bundle)\(created)\"adam_id\":0,\"in_app\":[\(inApp.joined(separator: ","))]}"
        return Array("{\"status\":0,\"environment\":\"\(environment)\",\"receipt\":\(receipt)\(latest)}".utf8)
    }

    /// An answer of a status alone, with members more if need be.
    static func status(_ status: Int, _ more: String = "") -> [UInt8] {
        Array("{\"status\":\(status)\(more)}".utf8)
    }
}
