import Contract
import Ledger

/// A line of a file of grants: a purchase that another system has given to a user.
///
/// Each is a JSON object. An unknown member is a fault, because it may be a misspelt known one.
struct ImportedLine {
    /// The rules that a line breaks, in words that hold none of its values.
    struct Faulty: Error, Hashable {
        let faults: [String]
    }

    private static let known: Set<String> = [
        "bundleId", "environment", "transactionId", "originalTransactionId", "webOrderLineItemId", "productId", "type",
        "quantity", "userId", "orderId", "purchasedAt", "expiresAt", "grantedAt", "ownership",
    ]
    /// The App Store opened in July 2008: an earlier moment is one in seconds, or none.
    private static let earliest = SubmissionReading.earliestTime
    private static let maxQuantity = 1_000

    private let object: StrictJSON
    private var faults: [String] = []

    /// Reads the grant of a line.
    /// - Parameters:
    ///   - now: No moment is later.
    ///   - file: The file's name, as people are to read it.
    static func grant(_ line: LineReader.Line, of file: String, now: Timestamp) throws(Faulty) -> Grant {
        guard let bytes = line.bytes else { throw Faulty(faults: ["is longer than \(LineReader.longest) bytes"]) }
        let object: StrictJSON
        do throws(JSONUnreadable) {
            object = try StrictJSON(bytes)
        } catch {
            throw Faulty(faults: ["is no JSON object: \(error.reason)"])
        }
        guard object.flaws.isEmpty else { throw Faulty(faults: ["has a member twice, or too many of them"]) }
        var reading = ImportedLine(object: object)
        let grant = reading.grant(line.number, of: file, now: now)
        guard let grant, reading.faults.isEmpty else { throw Faulty(faults: reading.faults) }
        return grant
    }

    private init(object: StrictJSON) { self.object = object }

    private mutating func grant(_ line: Int, of file: String, now: Timestamp) -> Grant? {
        for name in object.members.names where !Self.known.contains(name) {
            faults.append("has an unknown member, \(name.prefix(40).debugDescription)")
        }
        let bundle = required("bundleId", MemberForms.bundleID)
        let environment = required("environment") { Environment(rawValue: $0) }
        let transaction = required("transactionId", Self.transaction)
        let product = required("productId", MemberForms.productID)
        let type = required("type") { ProductType(rawValue: $0) }
        let user = required("userId", MemberForms.userID)
        let purchasedAt = required("purchasedAt") { Self.moment($0, now: now) }
        let grantedAt = required("grantedAt") { Self.moment($0, now: now) }
        let original = optional("originalTransactionId", Self.transaction)
        // In the one form that keys are made of, as every reader of Apple's has it: 0 names no period.
        let lineItem = optional("webOrderLineItemId") { DigitText.isDigits($0, atMost: 20) ? $0 : nil }
            .flatMap(DigitText.withoutLeadingZeros)
        let quantity = optional("quantity") { text in
            Int(text).flatMap { (1...Self.maxQuantity).contains($0) ? $0 : nil }
        }
        let order = optional("orderId", MemberForms.orderID)
        let expiresAt = optional("expiresAt") { Timestamp(rfc3339: $0) ?? Self.milliseconds($0) }
        let ownership = optional("ownership") { Ownership(rawValue: $0) }
        if type != .consumable, type != nil, isEmpty("originalTransactionId") {
            faults.append("has no originalTransactionId, by which a \(type?.rawValue ?? "") is granted once")
        }
        if type == .autoRenewable, object.members["webOrderLineItemId"] == nil {
            faults.append("has no webOrderLineItemId, by which a period is granted once; null where none is known")
        }
        guard let bundle, let environment, let transaction, let product, let type, let user, let purchasedAt,
            let grantedAt
        else { return nil }
        let purchase = Purchase(
            transactionID: transaction, originalTransactionID: original ?? transaction, webOrderLineItemID: lineItem,
            productID: product, quantity: quantity ?? 1, environment: environment, purchasedAt: purchasedAt,
            expiresAt: expiresAt, revokedAt: nil, isUpgraded: false, ownership: ownership ?? .purchased,
            appAccountToken: nil, type: nil, payment: nil, offer: nil)
        let submission = SubmissionID("import:\(environment.rawValue):\(transaction)")
        return Grant(
            imported: purchase, type: type,
            to: Claimant(
                submissionID: submission, userID: user, bundleID: bundle, orderID: order, traceparent: nil),
            grantedAt: grantedAt, line: line, of: file)
    }

    // MARK: Members

    /// Whether a member is absent, null or empty.
    private func isEmpty(_ name: String) -> Bool {
        switch object.members[name] {
        case nil, .null, .string(""): true
        default: false
        }
    }

    private mutating func required<Value>(_ name: String, _ read: (String) -> Value?) -> Value? {
        let before = faults.count
        let value = optional(name, read)
        if value == nil, faults.count == before { faults.append("has no \(name)") }
        return value
    }

    /// Nil where it is absent, null or empty, and after a fault.
    private mutating func optional<Value>(_ name: String, _ read: (String) -> Value?) -> Value? {
        guard !isEmpty(name) else { return nil }
        let text: String
        switch object.members[name] {
        case .string(let string): text = string
        case .number(let digits):
            guard DigitText.isDigits(digits, atMost: 16), let number = Int64(digits),
                number <= MemberForms.largestExactNumber
            else {
                faults.append("has a \(name) that is no whole number below 2^53; write it as a string")
                return nil
            }
            text = digits
        default:
            faults.append("has a \(name) that is neither a text nor a number")
            return nil
        }
        guard let value = read(text) else {
            faults.append("has a \(name) of a form that is not allowed")
            return nil
        }
        return value
    }

    private static func transaction(_ text: String) -> TransactionID? {
        MemberForms.transactionID(text).flatMap { $0.isWellFormed ? $0 : nil }
    }

    /// RFC 3339, or milliseconds since 1970; neither before the App Store nor after now.
    private static func moment(_ text: String, now: Timestamp) -> Timestamp? {
        guard let moment = Timestamp(rfc3339: text) ?? milliseconds(text), moment >= earliest, moment <= now else {
            return nil
        }
        return moment
    }

    private static func milliseconds(_ text: String) -> Timestamp? {
        DigitText.isDigits(text, atMost: 16) ? Int64(text).map { Timestamp(milliseconds: $0) } : nil
    }
}
