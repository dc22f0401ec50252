import AppStoreSimulator
import Contract
import Scheduling

/// Checks every cell of the table of account tokens in docs/configuration.md from outside the worker. Each kind of
/// evidence, attested token, claimed token and policy has one submission.
struct TokensRun: Run {
    private static let limit = Duration.seconds(120)
    let options: Options

    /// A way in which Apple's word on a purchase reaches the worker, named after it in the printed table.
    private enum Way: String, CaseIterable {
        case signedTransaction = "signed transaction"
        case transactionID = "transaction id"
        case lookedUpReceipt = "receipt, serverAPI"
        case subscriptionReceipt = "receipt of a subscription"
        case receipt = "receipt"
        case receiptWithKey = "receipt, app with a key"
        case localReceipt = "receipt, local"
        case localReceiptWithKey = "receipt, local, with a key"

        var receipts: String {
            switch self {
            case .signedTransaction, .subscriptionReceipt, .receipt, .receiptWithKey: "verifyReceipt"
            case .transactionID, .lookedUpReceipt: "serverAPI"
            case .localReceipt, .localReceiptWithKey: "local"
            }
        }

        var hasKey: Bool {
            switch self {
            case .transactionID, .lookedUpReceipt, .receiptWithKey, .localReceiptWithKey: true
            case .signedTransaction, .subscriptionReceipt, .receipt, .localReceipt: false
            }
        }

        /// Apple's word in the words of the table's first column.
        func says(_ attested: Token) -> String {
            switch self {
            case .signedTransaction, .transactionID, .lookedUpReceipt: attested.isToken ? "a token" : "no token"
            case .subscriptionReceipt: attested.isToken ? "a token" : "cannot say"
            case .receipt, .receiptWithKey, .localReceipt, .localReceiptWithKey: "cannot say"
            }
        }
    }

    /// The text in a token's place. The nil UUID and texts that are no UUID count as none.
    private enum Token: String, CaseIterable {
        case none
        case a = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        case b = "00000000-0000-4000-8000-000000000000"
        case zeros = "00000000-0000-0000-0000-000000000000"
        case text = "player-17"

        /// The tokens that Apple attests in this run.
        static let attested: [Token] = [.none, .zeros, .text, .a]

        var isToken: Bool { self == .a || self == .b }
        var text: String? { self == .none ? nil : rawValue }
        var shown: String {
            switch self {
            case .none: "none"
            case .a: "A"
            case .b: "B"
            case .zeros: "0"
            case .text: "text"
            }
        }
    }

    private static let policies = ["match", "required", "ignore"]

    private struct Cell {
        let way: Way
        let attested: Token
        let claimed: Token
        let policy: String
        let purchase: SimulatedPurchase

        var app: BundleID { TokensRun.app(policy, way) }
        var name: String { "\(way)-\(attested.shown)-\(claimed.shown)-\(policy)" }
    }

    private static func app(_ policy: String, _ way: Way) -> BundleID {
        BundleID("com.example.\(policy).\(way.receipts)\(way.hasKey ? ".key" : "")")
    }

    func run() throws -> Bool {
        let table = try DocumentedTable(of: "Apple attests")
        let world = try World(options)
        let key = try ServerAPIKey(acceptedIn: world)
        try writeText(Self.apps(key), to: world.folder + "/apps.yaml")
        let worker = try world.start()
        let traffic = try Traffic(world)
        let cells = Self.cells
        for cell in cells { traffic.send(key: cell.name, value: try Self.submission(cell, world)) }
        try traffic.flush()
        let outcomes = try Outcomes.wait(world, for: Self.limit) { outcomes in
            cells.allSatisfy { outcomes[$0.name] != nil }
        }
        var report = Report()
        Self.show(cells, outcomes, table, &report)
        report.stop([worker])
        world.apple.stop()
        return report.end(world)
    }

    private static var cells: [Cell] {
        var cells: [Cell] = []
        for way in Way.allCases {
            for attested in Token.attested {
                for policy in policies {
                    for claimed in Token.allCases {
                        let isSubscription = way == .subscriptionReceipt
                        let now = Timestamp.thisSecond
                        let purchase = SimulatedPurchase(
                            transactionID: TransactionID("\(3_000_000_000 + cells.count)"),
                            productID: isSubscription ? "vip" : "gems",
                            kind: isSubscription ? .autoRenewable : .consumable, purchasedAt: now,
                            expiresAt: isSubscription ? Timestamp(milliseconds: now.milliseconds + 86_400_000) : nil,
                            appAccountToken: attested.text)
                        cells.append(
                            Cell(way: way, attested: attested, claimed: claimed, policy: policy, purchase: purchase))
                    }
                }
            }
        }
        return cells
    }

    private static func apps(_ key: ServerAPIKey) -> String {
        var apps: [String: String] = [:]
        for policy in policies {
            for way in Way.allCases {
                let app = app(policy, way).rawValue
                apps[app] =
                    "  - {bundleId: \(app), accountToken: \(policy), receipts: \(way.receipts), products: any, "
                    + "sandbox: {policy: reject}\(way.hasKey ? ", \(key.member)" : "")}\n"
            }
        }
        return "apps:\n" + apps.keys.sorted().compactMap { apps[$0] }.joined()
    }

    /// A submission as a backend sends it; Apple knows the purchase.
    private static func submission(_ cell: Cell, _ world: World) throws -> [UInt8] {
        try world.apple.register(cell.purchase, bundleID: cell.app, environment: .production)
        let evidence: String
        switch cell.way {
        case .transactionID: evidence = #""transactionId":"\#(cell.purchase.transactionID)""#
        case .signedTransaction:
            let transaction = TransactionSpecification(cell.purchase, bundleID: cell.app, environment: .production)
            evidence = #""signedTransaction":"\#(try world.apple.issueSigned(transaction))""#
        default:
            let receipt = ReceiptSpecification(
                bundleID: cell.app, environment: .production, purchases: [cell.purchase], creationDate: .thisSecond)
            evidence = #""receipt":"\#(try world.apple.issue(receipt))""#
        }
        let claim = cell.claimed.text.map { #","appAccountToken":"\#($0)""# } ?? ""
        return Array(
            #"{"submissionId":"\#(cell.name)","userId":"\#(cell.name)","bundleId":"\#(cell.app)",\#(evidence)\#(claim)}"#
                .utf8)
    }

    private static func show(
        _ cells: [Cell], _ outcomes: Outcomes, _ table: DocumentedTable, _ report: inout Report
    ) {
        say(
            "G granted, M fails as account_token_mismatch, - fails as account_token_missing, H is held as it, "
                + "! something else than documented")
        say("A and B are tokens, 0 is the nil UUID, text is no UUID")
        let claims = Token.allCases.map { padded($0.shown, 5) }.joined()
        say(padded("", 37) + policies.map { padded($0, 27) }.joined())
        say(padded("evidence", 28) + padded("attests", 9) + policies.map { _ in padded(claims, 27) }.joined())
        let perLine = policies.count * Token.allCases.count
        for start in stride(from: 0, to: cells.count, by: perLine) {
            let line = cells[start..<min(cells.count, start + perLine)]
            guard let first = line.first else { continue }
            var text = padded(first.way.rawValue, 28) + padded(first.attested.shown, 9)
            for (place, cell) in line.enumerated() {
                let answer = outcomes[cell.name] ?? "no answer"
                let word = documented(
                    table, cell.way.says(cell.attested), cell, onceLookedUp: cell.way.hasKey ? attests(cell) : nil)
                let documented = word == "granted" ? "granted \(cell.purchase.transactionID)" : word
                let isLast = (place + 1) % Token.allCases.count == 0
                text += padded(answer == documented ? mark(word) : "!", isLast ? 7 : 5)
                report.expect(answer == documented, "\(cell.name): \(answer), documented as \(word ?? "nothing")")
            }
            say(trimmed(text))
        }
        say("\(cells.count) cells")
    }

    /// The word of the table's row for Apple's word; nil if there is no such row.
    ///
    /// - Parameter onceLookedUp: Apple's word when it is asked by the transaction's id; nil if it cannot be asked.
    private static func documented(
        _ table: DocumentedTable, _ attested: String, _ cell: Cell, onceLookedUp: String?
    ) -> String? {
        let claimed = !cell.claimed.isToken ? "none" : cell.claimed == cell.attested ? "the same" : "another"
        let word = table.cell(cell.policy) { row in
            row["Apple attests"] == attested && (row["claimed"] == claimed || row["claimed"] == "any or none")
        }
        guard let word, word.hasPrefix("looked up") else { return word }
        guard let onceLookedUp else { return word.split(separator: " ").last.map { String($0) } }
        return documented(table, onceLookedUp, cell, onceLookedUp: nil)
    }

    private static func attests(_ cell: Cell) -> String { cell.attested.isToken ? "a token" : "no token" }

    private static func mark(_ word: String?) -> String {
        switch word {
        case "granted": "G"
        case "account_token_mismatch": "M"
        case "account_token_missing": "-"
        default: "H"
        }
    }
}
