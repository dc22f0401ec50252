import AppStoreSimulator
import Contract
import Glibc
import Scheduling

/// Checks every cell of the table of unlisted products in docs/configuration.md from outside the worker, for each kind
/// of evidence and claim. Then the product is listed, and held submissions must be granted.
struct UnlistedRun: Run {
    private static let limit = Duration.seconds(120)
    private static let (listed, unlisted) = (ProductID("gems"), ProductID("late"))
    let options: Options

    /// A way in which Apple's word on purchases reaches the worker.
    private enum Way: String, CaseIterable {
        case signedTransaction = "signed transaction"
        case transactionID = "transaction id"
        case receipt = "receipt"
        case lookedUpReceipt = "receipt, serverAPI"
        case localReceipt = "receipt, local"

        var receipts: String {
            switch self {
            case .signedTransaction, .receipt: "verifyReceipt"
            case .transactionID, .lookedUpReceipt: "serverAPI"
            case .localReceipt: "local"
            }
        }

        var hasKey: Bool { receipts == "serverAPI" }
        /// Whether one submission attests several purchases.
        var attestsSeveral: Bool { self != .signedTransaction && self != .transactionID }
    }

    private enum Claim: String, CaseIterable {
        case none
        case product
        case transaction
    }

    /// The purchases that the evidence attests.
    private enum Company: String, CaseIterable {
        case alone
        case refunded = "alone, refunded"
        case new = "beside a listed one"
        case granted = "beside one granted before"

        var isBesideListed: Bool { self == .new || self == .granted }
    }

    private static let heading = "a purchase of a product that is not listed"
    private static let policies = ["hold", "fail"]

    private struct Cell {
        let way: Way
        let claim: Claim
        let company: Company
        let policy: String
        let number: Int

        var app: BundleID { BundleID("com.example.\(policy).\(way.receipts)") }
        var name: String { "\(way)-\(claim)-\(company)-\(policy)" }
        var listed: SimulatedPurchase { purchase(UnlistedRun.listed, 4_000_000_000 + number) }
        var unlisted: SimulatedPurchase { purchase(UnlistedRun.unlisted, 5_000_000_000 + number) }
        /// All that the evidence attests.
        var purchases: [SimulatedPurchase] { company.isBesideListed ? [listed, unlisted] : [unlisted] }

        /// The beginning of its row in the documented table.
        var row: String {
            switch (company, claim) {
            case (.refunded, _): "is refunded"
            case (_, .product), (_, .transaction): "is claimed"
            case (.alone, .none): way.attestsSeveral ? "stands in a receipt" : "is claimed"
            case (.new, .none): "stands beside purchases that are granted"
            case (.granted, .none): "stands beside purchases that were all granted before"
            }
        }

        /// The outcome that the table's word means for this cell; nil for a word that is not known.
        func outcome(_ word: String) -> String? {
            switch word.split(whereSeparator: { ",;".contains($0) }).first.map({ trimmed(String($0)) }) {
            case "passed over": "granted \(listed.transactionID)"
            case "the former grant answers": "granted again \(listed.transactionID)"
            case "as if it were listed": "transaction_revoked"
            case let word?: word
            case nil: nil
            }
        }

        private func purchase(_ product: ProductID, _ id: Int) -> SimulatedPurchase {
            SimulatedPurchase(
                transactionID: TransactionID("\(id)"), productID: product, purchasedAt: .thisSecond,
                cancelledAt: company == .refunded ? .thisSecond : nil,
                cancellationReason: company == .refunded ? "0" : nil)
        }
    }

    private static var cells: [Cell] {
        var cells: [Cell] = []
        for way in Way.allCases {
            // With a bare transaction id the claim is complete.
            for claim in Claim.allCases where way != .transactionID || claim != .transaction {
                for company in Company.allCases where isThere(way, claim, company) {
                    for policy in policies {
                        cells.append(
                            Cell(way: way, claim: claim, company: company, policy: policy, number: cells.count))
                    }
                }
            }
        }
        return cells
    }

    private static func isThere(_ way: Way, _ claim: Claim, _ company: Company) -> Bool {
        switch company {
        case .alone: true
        // Whether a local receipt shows a refund depends on its age.
        case .refunded: claim == .none && way != .localReceipt
        case .new, .granted: way.attestsSeveral
        }
    }

    func run() throws -> Bool {
        let table = try DocumentedTable(of: Self.heading)
        let world = try World(options)
        let key = try ServerAPIKey(acceptedIn: world)
        try writeText(Self.apps(key, listing: [Self.listed]), to: world.folder + "/apps.yaml")
        let worker = try world.start()
        let traffic = try Traffic(world)
        var report = Report()
        let cells = Self.cells
        let before = cells.filter { $0.company == .granted }
        for cell in before {
            try Self.register(cell, world)
            traffic.send(key: cell.name, value: try Self.earlier(cell, world))
        }
        try traffic.flush()
        _ = try Outcomes.wait(world, for: Self.limit) { outcomes in
            before.allSatisfy { outcomes["before-\($0.name)"] == "granted \($0.listed.transactionID)" }
        }
        for cell in cells {
            if cell.company != .granted { try Self.register(cell, world) }
            traffic.send(key: cell.name, value: try Self.submission(cell, world))
        }
        try traffic.flush()
        let first = try Outcomes.wait(world, for: Self.limit) { outcomes in
            cells.allSatisfy { outcomes[$0.name] != nil }
        }
        try writeText(Self.apps(key, listing: [Self.listed, Self.unlisted]), to: world.folder + "/apps.yaml")
        worker.signal(SIGHUP)
        let second = try Outcomes.wait(world, for: Self.limit) { outcomes in
            !outcomes.isAnythingHeld && cells.allSatisfy { outcomes[$0.name] != nil }
        }
        Self.show(cells, first, second, table, &report)
        report.stop([worker])
        world.apple.stop()
        return report.end(world)
    }

    private static func apps(_ key: ServerAPIKey, listing products: [ProductID]) -> String {
        let listed = products.map { "{id: \($0), type: consumable, items: [{item: \($0), quantity: 1}]}" }
        var apps: [BundleID: String] = [:]
        for cell in cells {
            apps[cell.app] =
                "  - {bundleId: \(cell.app), receipts: \(cell.way.receipts), sandbox: {policy: reject}, "
                + "unlistedProducts: \(cell.policy), products: [\(listed.joined(separator: ", "))]"
                + "\(cell.way.hasKey ? ", \(key.member)" : "")}\n"
        }
        return "apps:\n" + apps.keys.sorted().compactMap { apps[$0] }.joined()
    }

    // MARK: Submissions

    /// Apple knows the purchases, as those of one customer.
    private static func register(_ cell: Cell, _ world: World) throws {
        for purchase in cell.purchases {
            try world.apple.register(
                Registration(
                    TransactionSpecification(
                        purchase, bundleID: cell.app, environment: .production,
                        appTransactionID: "704\(cell.number)")))
        }
    }

    /// The submission by which the listed product was granted before.
    private static func earlier(_ cell: Cell, _ world: World) throws -> [UInt8] {
        let claim = #","transactionId":"\#(cell.listed.transactionID)""#
        return message("before-\(cell.name)", cell, try receipt([cell.listed], cell, world) + claim)
    }

    private static func submission(_ cell: Cell, _ world: World) throws -> [UInt8] {
        let evidence: String
        switch cell.way {
        case .signedTransaction:
            let transaction = TransactionSpecification(cell.unlisted, bundleID: cell.app, environment: .production)
            evidence = #""signedTransaction":"\#(try world.apple.issueSigned(transaction))""#
        case .transactionID: evidence = #""transactionId":"\#(cell.unlisted.transactionID)""#
        case .receipt, .lookedUpReceipt, .localReceipt: evidence = try receipt(cell.purchases, cell, world)
        }
        let claim =
            switch cell.claim {
            case .none: ""
            case .product: #","productId":"\#(unlisted)""#
            case .transaction: #","transactionId":"\#(cell.unlisted.transactionID)""#
            }
        return message(cell.name, cell, evidence + claim)
    }

    private static func receipt(_ purchases: [SimulatedPurchase], _ cell: Cell, _ world: World) throws -> String {
        let receipt = ReceiptSpecification(
            bundleID: cell.app, environment: .production, purchases: purchases, creationDate: .thisSecond)
        return #""receipt":"\#(try world.apple.issue(receipt))""#
    }

    /// Both submissions of a cell are one user's.
    private static func message(_ name: String, _ cell: Cell, _ rest: String) -> [UInt8] {
        Array(#"{"submissionId":"\#(name)","userId":"\#(cell.name)","bundleId":"\#(cell.app)",\#(rest)}"#.utf8)
    }

    // MARK: Outcomes

    private static func show(
        _ cells: [Cell], _ first: Outcomes, _ second: Outcomes, _ table: DocumentedTable, _ report: inout Report
    ) {
        say("4… is listed, 5… is not; what is held must be granted once it is listed; ! something else than documented")
        say(padded("evidence", 20) + padded("claims", 13) + padded("attests", 27) + padded("policy", 8) + "outcome")
        for cell in cells {
            let word = table.cell(cell.policy) { $0[heading]?.hasPrefix(cell.row) == true }
            let documented = word.flatMap(cell.outcome)
            let isHeld = documented?.hasPrefix("held") == true
            let later = isHeld ? "granted \(cell.unlisted.transactionID)" : documented
            let (answer, last) = (first[cell.name] ?? "no answer", second[cell.name] ?? "no answer")
            let isGood = answer == documented && last == later
            say(
                padded(cell.way.rawValue, 20) + padded(cell.claim.rawValue, 13) + padded(cell.company.rawValue, 27)
                    + padded(cell.policy, 8) + (isGood ? "" : "! ") + answer + (isHeld ? ", then \(last)" : ""))
            report.expect(answer == documented, "\(cell.name): \(answer), documented as \(word ?? "nothing")")
            report.expect(last == later, "\(cell.name): \(last) once the product is listed, not \(later ?? "anything")")
        }
        say("\(cells.count) cells")
    }
}
