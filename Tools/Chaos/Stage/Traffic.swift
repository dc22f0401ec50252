import AppStoreSimulator
import Contract
import Kafka
import KafkaTesting
import Scheduling
import Threading

/// Puts submissions on the input topic and remembers the grant that each must lead to.
final class Traffic {
    private let world: World
    private let transactions: SignedTransactionFactory
    private let receipts: ReceiptFactory
    private let wake: WakeDescriptor
    private var producer: KafkaProducer
    private var reports: [KafkaDeliveryReport] = []
    private var sent = 0
    /// The transaction of each genuine submission.
    private(set) var expected: [String: String] = [:]

    /// PKCS #7 around an empty set of attributes: the shortest text that reads as a receipt.
    static let forgery = "MCkGCSqGSIb3DQEHAqAcMBoCAQExADARBgkqhkiG9w0BBwGgBAQCMQAxAA=="

    /// Brokers may be away for a while in between.
    private static let flushLimit = Duration.seconds(300)

    init(_ world: World) throws {
        self.world = world
        transactions = SignedTransactionFactory(authority: world.authority)
        receipts = try ReceiptFactory(authority: world.authority)
        wake = try WakeDescriptor()
        var client = world.kafka.client
        client.properties["message.max.bytes"] = "4000000"
        client.properties["message.timeout.ms"] = "600000"
        producer = try KafkaProducer(configuration: client, wake: wake, logger: world.logger)
    }

    /// A signed transaction of one of the apps.
    @discardableResult
    func signed(_ name: String, user: String? = nil, app: Int = 0) throws -> Claim {
        let purchase = nextPurchase()
        let bundle = World.apps[app % World.apps.count]
        let text = try transactions.signed(
            TransactionSpecification(purchase, bundleID: bundle, environment: .production), signedAt: .thisSecond)
        expected[name] = purchase.transactionID.rawValue
        let claim = Claim(user: user ?? nextPlayer, app: bundle, text: text)
        submit(name, claim)
        return claim
    }

    /// A user's signed transaction.
    struct Claim {
        let user: String
        let app: BundleID
        let text: String
    }

    /// Another submission of a claim that was submitted before.
    func submit(_ name: String, _ claim: Claim) {
        submit(name, claim.user, claim.app, #""signedTransaction":"\#(claim.text)""#)
    }

    private var nextPlayer: String { "player-\(sent % 997)" }

    /// A receipt of a size, as base64.
    func receipt(bytes: Int) throws -> (text: String, transaction: String) {
        let purchase = nextPurchase()
        let text = try receipts.base64(
            ReceiptSpecification(
                bundleID: World.apps[0], environment: .production, purchases: [purchase],
                creationDate: .thisSecond, targetSize: bytes))
        return (text, purchase.transactionID.rawValue)
    }

    func submit(_ name: String, _ receipt: (text: String, transaction: String)) {
        expected[name] = receipt.transaction
        submit(name, nil, World.apps[0], #""receipt":"\#(receipt.text)""#)
    }

    func forged(_ name: String) { submit(name, nil, World.apps[0], #""receipt":"\#(Self.forgery)""#) }

    private var purchases = 2_000_000_000

    private func nextPurchase() -> SimulatedPurchase {
        purchases += 1
        return SimulatedPurchase(
            transactionID: TransactionID(String(purchases)), productID: "gems", purchasedAt: .thisSecond)
    }

    private func submit(_ name: String, _ user: String?, _ app: BundleID, _ evidence: String) {
        let user = user ?? nextPlayer
        send(
            key: user,
            value: Array(#"{"submissionId":"\#(name)","userId":"\#(user)","bundleId":"\#(app)",\#(evidence)}"#.utf8))
    }

    /// The record that was sent last, once more.
    func sendAgain() { if let last { send(key: last.key, value: last.value) } }

    private var last: (key: String, value: [UInt8])?

    /// Any record of the input topic.
    func send(key: String, value: [UInt8]) {
        last = (key, value)
        let record = KafkaProducerRecord(
            topic: Topic.submitted.defaultName, key: Array(key.utf8), value: value, headers: [])
        let token = UInt64(sent)
        sent += 1
        while producer.produce(record, token: token) != .accepted {
            wake.wait(until: .now + .milliseconds(100))
            drain()
        }
        unacknowledged[token] = (key, value)
        if sent % 100 == 0 { drain() }
    }

    /// Takes the broker's replies about records. A refused record is sent again, as producers have to do.
    private func drain() {
        producer.drainReports(into: &reports)
        let answered = reports
        reports.removeAll(keepingCapacity: true)
        for report in answered {
            guard let record = unacknowledged.removeValue(forKey: report.token) else { continue }
            if case .failed = report.result {
                refused += 1
                send(key: record.key, value: record.value)
            }
        }
    }

    /// By their tokens.
    private var unacknowledged: [UInt64: (key: String, value: [UInt8])] = [:]
    /// Times that a broker refused a record.
    private(set) var refused = 0

    /// Waits until the broker has everything.
    func flush() throws {
        let until = Instant.now + Self.flushLimit
        while !unacknowledged.isEmpty, Instant.now < until {
            wake.wait(until: .now + .milliseconds(50))
            drain()
        }
        guard unacknowledged.isEmpty else {
            throw ChaosFailure("\(unacknowledged.count) of \(sent) records are not taken by the brokers")
        }
    }
}
