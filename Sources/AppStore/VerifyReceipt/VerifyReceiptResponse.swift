import Foundation
import Purchases

/// A verifyReceipt answer, read leniently: everything but the status may be missing.
///
/// [responseBody](https://developer.apple.com/documentation/appstorereceipts/responsebody)
struct VerifyReceiptResponse: Sendable {
    /// Largest body that is looked into, in bytes. A receipt of 1.5 MB of DER comes back as some 6 MB.
    static let maxBytes = AppStoreReply.maxBytes

    let status: Int
    /// `environment`, as it came.
    let environment: String?
    /// `receipt.receipt_type`, as it came.
    let receiptType: String?
    let isRetryable: Bool?
    let bundleID: BundleID?
    /// `in_app` and `latest_receipt_info` together, one record per transaction id, the latest's word first; records
    /// without an id come last.
    let records: [AttestedRecord]

    /// Reads a body; nil if it is not a JSON object with a status, or larger than ``maxBytes``.
    init?(json body: [UInt8]) {
        guard body.count <= Self.maxBytes, let first = body.first(where: { !Self.spaces.contains($0) }),
            first == UInt8(ascii: "{"), let wire = Self.decode(Data(body)),
            let status = wire.status?.text.flatMap(LenientNumber.integer)
        else { return nil }
        self.status = status
        environment = wire.environment?.text
        receiptType = wire.receipt?.type
        isRetryable = (wire.isRetryable ?? wire.isRetryableHyphenated)?.text.flatMap(LenientNumber.flag)
        bundleID = wire.receipt?.bundleID.map { BundleID($0) }
        records = Self.merged(
            latest: (wire.latest?.elements ?? []) + (wire.latestExpired?.elements ?? []),
            older: (wire.receipt?.inApp?.elements ?? []) + (wire.receipt.map { [$0.record] } ?? []))
    }

    private static let spaces = Set(" \t\r\n".utf8)

    /// `JSONDecoder` alone looks no closer at members that it is not asked for, so a body damaged there would pass. What a
    /// damaged body says is worth nothing, whatever the error.
    private static func decode(_ body: Data) -> Wire? {
        guard (try? JSONSerialization.jsonObject(with: body)) != nil else { return nil }
        return try? JSONDecoder().decode(Wire.self, from: body)
    }

    private static func merged(latest: [AttestedRecord], older: [AttestedRecord]) -> [AttestedRecord] {
        var merged: [AttestedRecord] = []
        var nameless: [AttestedRecord] = []
        var places: [TransactionID: Int] = [:]
        for record in latest + older where !record.isEmpty {
            guard let id = record.transactionID else {
                nameless.append(record)
                continue
            }
            if let place = places[id] {
                merged[place] = merged[place].completed(from: record)
            } else {
                places[id] = merged.count
                merged.append(record)
            }
        }
        return merged + nameless
    }
}

/// The answer's members that count.
private struct Wire: Decodable {
    let status, environment, isRetryable, isRetryableHyphenated: LenientText?
    let receipt: WireReceipt?
    let latest, latestExpired: LenientList?

    enum CodingKeys: String, CodingKey {
        case status
        case environment
        case isRetryable = "is_retryable"
        case isRetryableHyphenated = "is-retryable"
        case receipt
        case latest = "latest_receipt_info"
        case latestExpired = "latest_expired_receipt_info"
    }
}

/// The `receipt` member. Receipts in the style of iOS 6 are a single purchase, with `bid` for the bundle id.
private struct WireReceipt: Decodable {
    var bundleID, type: String?
    var inApp: LenientList?
    /// Not empty where the receipt itself is a purchase.
    let record: AttestedRecord

    enum CodingKeys: String, CodingKey {
        case bundleID = "bundle_id"
        case bid
        case type = "receipt_type"
        case inApp = "in_app"
    }

    init(from decoder: any Decoder) throws {
        record = try AttestedRecord(from: decoder)
        guard let members = try? decoder.container(keyedBy: CodingKeys.self) else { return }
        let bundle = try members.decodeIfPresent(LenientText.self, forKey: .bundleID)
        bundleID = try (bundle ?? members.decodeIfPresent(LenientText.self, forKey: .bid))?.text
        type = try members.decodeIfPresent(LenientText.self, forKey: .type)?.text
        inApp = try members.decodeIfPresent(LenientList.self, forKey: .inApp)
    }
}
