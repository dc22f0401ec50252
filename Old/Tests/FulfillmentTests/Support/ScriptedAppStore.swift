import AppStore
import AppStoreSimulator
import Foundation
import Fulfillment
import HTTPTransport
import Purchases
import Synchronization

/// Apple in memory: answers for the receipts it issued, after the replies it was told to give first.
final class ScriptedAppStore: AppStoreEndpoint {
    private struct State {
        var answers: [String: [UInt8]] = [:]
        var scripted: [String: [AppStoreReply]] = [:]
        var everyone: [AppStoreReply] = []
        var transactions: [TransactionID: String] = [:]
        var lookedUp: [TransactionID] = []
        var calls = 0
        var inFlight = 0
        var peak = 0
        var lastTransaction = 1000
    }

    private let factory: ReceiptFactory
    private let transactions: SignedTransactionFactory
    /// What its signatures chain to.
    let roots: TrustedRoots
    private let state = Mutex(State())
    /// While it is set, calls wait for it.
    let gate: Gate?
    private let weather: Weather?
    let executor: (any TaskExecutor)?

    init(gate: Gate? = nil, weather: Weather? = nil, executor: (any TaskExecutor)? = nil) throws {
        // The tests' clock shows a moment of its own, and the certificates must be valid then.
        let authority = try SimulatorAuthority(now: Date(timeIntervalSince1970: 1_795_255_200))
        factory = try ReceiptFactory(authority: authority)
        transactions = try SignedTransactionFactory(authority: authority)
        roots = try TrustedRoots(pem: authority.rootsPEM)
        self.gate = gate
        self.weather = weather
        self.executor = executor
    }

    var calls: Int { state.withLock { $0.calls } }
    var peak: Int { state.withLock { $0.peak } }

    /// Makes a receipt with one consumable; its replies come first.
    func receipt(first replies: [AppStoreReply] = []) throws -> (base64: String, transactionID: TransactionID) {
        let id = state.withLock { state in
            state.lastTransaction += 1
            return TransactionID(String(state.lastTransaction))
        }
        let date = Timestamp(milliseconds: 1_795_255_000_000)
        let base64 = try factory.base64(
            ReceiptSpecification(
                bundleID: "com.example.game", environment: .production,
                purchases: [SimulatedPurchase(transactionID: id, productID: "gems", purchasedAt: date)],
                creationDate: date))
        let answer = """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.game","in_app":[{
            "quantity":"1","product_id":"gems","transaction_id":"\(id)","original_transaction_id":"\(id)",
            "purchase_date_ms":"1795255000000"}]}}
            """
        state.withLock { state in
            state.answers[base64] = Array(answer.utf8)
            state.scripted[base64] = replies
        }
        return (base64, id)
    }

    /// A signed transaction of one consumable.
    func signedTransaction(
        signedAt: Timestamp = Timestamp(milliseconds: 1_795_255_100_000), cancelledAt: Timestamp? = nil,
        bundleID: BundleID = "com.example.game", id: TransactionID? = nil
    ) throws -> (text: String, transactionID: TransactionID) {
        let id =
            id
            ?? state.withLock { state in
                state.lastTransaction += 1
                return TransactionID(String(state.lastTransaction))
            }
        let purchase = SimulatedPurchase(
            transactionID: id, productID: "gems", purchasedAt: Timestamp(milliseconds: 1_795_255_000_000),
            cancelledAt: cancelledAt)
        let text = try transactions.signed(
            TransactionSpecification(purchase, bundleID: bundleID, environment: .production), signedAt: signedAt)
        return (text, id)
    }

    /// What the App Store Server API answers about a transaction; nothing is found that was not given here.
    func answer(about id: TransactionID, with signedTransaction: String) {
        state.withLock { $0.transactions[id] = signedTransaction }
    }

    /// Transactions that were looked up, in order.
    var lookedUp: [TransactionID] { state.withLock { $0.lookedUp } }

    func serverAPI(
        _ environment: Environment, _ request: ServerAPIRequest, bearer token: BearerToken, isFresh: Bool
    ) async -> AppStoreReply {
        state.withLock { state in
            guard case .transaction(let id) = request else {
                return .response(httpStatus: 400, retryAfter: nil, body: Array(#"{"errorCode":4000000}"#.utf8))
            }
            state.lookedUp.append(id)
            if let reply = weather?.insteadOfLookup(id) { return reply }
            if !state.everyone.isEmpty { return state.everyone.removeFirst() }
            guard environment == .production, let text = state.transactions[id] else {
                return .response(httpStatus: 404, retryAfter: nil, body: Array(#"{"errorCode":4040010}"#.utf8))
            }
            return .response(
                httpStatus: 200, retryAfter: nil, body: Array(#"{"signedTransactionInfo":"\#(text)"}"#.utf8))
        }
    }

    /// What the next calls get, whatever they are about.
    func answerEveryone(with replies: [AppStoreReply]) {
        state.withLock { $0.everyone = replies }
    }

    func verifyReceipt(
        _ environment: Environment, body: RequestBody, isFresh: Bool,
        then: @escaping @Sendable (AppStoreReply) -> Void
    ) {
        Task(executorPreference: executor) { then(await self.reply(to: body)) }
    }

    private func reply(to body: RequestBody) async -> AppStoreReply {
        state.withLock { state in
            state.calls += 1
            state.inFlight += 1
            state.peak = max(state.peak, state.inFlight)
        }
        await gate?.pass()
        let instead = await weather?.instead()
        let request = (try? JSONSerialization.jsonObject(with: Data(body.bytes))) as? [String: Any]
        let receipt = request?["receipt-data"] as? String ?? ""
        return state.withLock { state in
            state.inFlight -= 1
            if let instead { return instead }
            if !state.everyone.isEmpty { return state.everyone.removeFirst() }
            if let reply = state.scripted[receipt]?.first {
                state.scripted[receipt]?.removeFirst()
                return reply
            }
            let answer = state.answers[receipt] ?? Array(#"{"status":21003}"#.utf8)
            return .response(httpStatus: 200, retryAfter: nil, body: answer)
        }
    }
}

/// What comes at the moment of a call instead of an answer, if anything does.
struct Weather: Sendable {
    /// Of a receipt.
    var instead: @Sendable () async -> AppStoreReply? = { nil }
    /// Of a lookup.
    var insteadOfLookup: @Sendable (TransactionID) -> AppStoreReply? = { _ in nil }
}

/// Lets nobody pass until it is opened.
final class Gate: Sendable {
    private let state = Mutex((isOpen: false, waiters: [CheckedContinuation<Void, Never>]()))

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
