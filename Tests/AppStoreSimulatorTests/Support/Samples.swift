import Contract
import Foundation
import Testing

@testable import AppStoreSimulator

/// 2026-11-21T04:59:13Z.
let now = Timestamp(milliseconds: 1_795_237_153_000)
let day: Int64 = 86_400_000

func moment(_ text: String) throws -> Timestamp {
    guard let moment = Timestamp(rfc3339: text) else { throw SampleError.notADate(text) }
    return moment
}

enum SampleError: Error {
    case notADate(String)
}

extension SimulatedPurchase {
    static func gems(_ id: TransactionID = "1000000000000001") -> SimulatedPurchase {
        SimulatedPurchase(
            transactionID: id, productID: "com.example.game.gems100",
            purchasedAt: Timestamp(milliseconds: now.milliseconds - day))
    }

    /// A month of a subscription that ends so many days from now.
    static func month(_ id: TransactionID, original: TransactionID, endsInDays days: Int64) -> SimulatedPurchase {
        let end = now.milliseconds + days * day
        return SimulatedPurchase(
            transactionID: id, originalTransactionID: original, productID: "com.example.game.vip", kind: .autoRenewable,
            purchasedAt: Timestamp(milliseconds: end - 30 * day), expiresAt: Timestamp(milliseconds: end),
            webOrderLineItemID: 7_000_000_000_001)
    }
}

extension ReceiptSpecification {
    static func sample(
        _ purchases: [SimulatedPurchase] = [.gems()], _ environment: ReceiptEnvironment = .production,
        targetSize: Int? = nil
    ) -> ReceiptSpecification {
        ReceiptSpecification(
            bundleID: "com.example.game", environment: environment, purchases: purchases, creationDate: now,
            targetSize: targetSize)
    }
}

extension TransactionSpecification {
    static func sample(
        _ purchase: SimulatedPurchase = .gems(), _ environment: Environment = .production,
        customer: String? = nil, changes: [MemberChange] = []
    ) -> TransactionSpecification {
        TransactionSpecification(
            purchase, bundleID: "com.example.game", environment: environment, appTransactionID: customer,
            changes: changes)
    }
}

extension SimulatorAuthority {
    /// One for all tests that need no other; making keys takes milliseconds.
    static let shared = Result { () throws(AuthorityError) in try SimulatorAuthority(now: .present) }
}

/// A folder that is removed when the closure returns.
func withTemporaryFolder<Value>(_ body: (URL) throws -> Value) throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
}

/// Runs OpenSSL's command line tool, an implementation independent of ours; the output is of both its streams.
func openssl(_ arguments: String...) throws -> (status: Int32, output: String) {
    let command = arguments.map { "'\($0)'" }.joined(separator: " ")
    let pipe = try #require(popen("openssl \(command) 2>&1", "r"))
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { output += buffer[..<count] }
    return (pclose(pipe), String(decoding: output, as: UTF8.self))
}

extension Timestamp {
    /// Now, for certificates that have to hold.
    static var present: Timestamp { Timestamp(milliseconds: Int64(time(nil)) * 1000) }
}

func members(_ body: [UInt8]) throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] ?? [:]
}
