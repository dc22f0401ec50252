import AppStore
import AppStoreSimulator
import Foundation
import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("Evidence of every kind, through the pipeline", .timeLimit(.minutes(5)))
struct VerifierTests {
    private static let start = Timestamp(milliseconds: 1_795_255_200_000)

    private func signed(_ text: String) -> String { #""signedTransaction":"\#(text)""# }

    private func proofs(_ bench: PipelineBench) -> [String] {
        bench.sink.events.map { event in
            let members = (try? JSONSerialization.jsonObject(with: Data(event.value ?? []))) as? [String: Any]
            return members?["verifiedBy"] as? String ?? members?["reason"] as? String ?? "none"
        }.sorted()
    }

    @Test("a signed transaction is granted without asking anybody")
    func signedTransaction() async throws {
        let bench = try await PipelineBench()
        let transactions = try (0..<300).map { _ in try bench.appStore.signedTransaction().text }
        bench.source.write(
            transactions.enumerated().map { PipelineBench.message("s-\($0)", evidence: signed($1)) })
        try await bench.run(untilSettled: 300)
        #expect(try await bench.ledger.counts().grants == 300)
        #expect(Set(proofs(bench)) == ["signedTransaction"])
        #expect(bench.appStore.calls == 0)
        #expect(bench.appStore.lookedUp.isEmpty)
        #expect(bench.source.committed == 300)
    }

    @Test("the same transaction signed anew is the same purchase")
    func signedAnew() async throws {
        let bench = try await PipelineBench()
        let (first, id) = try bench.appStore.signedTransaction()
        let again = try bench.appStore.signedTransaction(signedAt: Self.start, id: id).text
        bench.source.write([
            PipelineBench.message("one", evidence: signed(first)),
            PipelineBench.message("two", evidence: signed(again)),
            PipelineBench.message("thief", user: "v", evidence: signed(again)),
        ])
        try await bench.run(untilSettled: 3)
        #expect(try await bench.ledger.counts().grants == 1)
        #expect(try await bench.ledger.counts().failures == [.ownedByAnotherUser: 1])
    }

    @Test("one signed long ago is looked up before it is granted, and what Apple took back since is seen")
    func confirmation() async throws {
        let bench = try await PipelineBench { try .withKey($0, confirmsOlderThan: .seconds(10_000_000)) }
        let longAgo = Self.start.advanced(by: .seconds(-20_000_000))
        let stands = try bench.appStore.signedTransaction(signedAt: longAgo)
        bench.appStore.answer(
            about: stands.transactionID,
            with: try bench.appStore.signedTransaction(id: stands.transactionID).text)
        let refunded = try bench.appStore.signedTransaction(signedAt: longAgo)
        bench.appStore.answer(
            about: refunded.transactionID,
            with: try bench.appStore.signedTransaction(cancelledAt: Self.start, id: refunded.transactionID).text)
        let fresh = try bench.appStore.signedTransaction()
        bench.source.write([
            PipelineBench.message("stands", evidence: signed(stands.text)),
            PipelineBench.message("refunded", evidence: signed(refunded.text)),
            PipelineBench.message("fresh", evidence: signed(fresh.text)),
        ])
        try await bench.run(untilSettled: 3)
        #expect(proofs(bench) == ["serverAPI", "signedTransaction", "transaction_revoked"])
        #expect(Set(bench.appStore.lookedUp) == [stands.transactionID, refunded.transactionID])
    }

    @Test("a bare transaction id is looked up, and found late if need be")
    func bareID() async throws {
        let bench = try await PipelineBench { try .withKey($0) }
        let purchase = try bench.appStore.signedTransaction()
        bench.appStore.answer(about: purchase.transactionID, with: purchase.text)
        let missing = AppStoreReply.response(
            httpStatus: 404, retryAfter: nil, body: Array(#"{"errorCode":4040010}"#.utf8))
        bench.appStore.answerEveryone(with: [missing, missing, .failed(.timedOut)])
        bench.source.write([
            PipelineBench.message("bare", evidence: #""transactionId":"\#(purchase.transactionID)""#)
        ])
        try await bench.run(untilSettled: 1)
        #expect(proofs(bench) == ["serverAPI"])
    }

    @Test("a second call of one try waits for its moment, however small the worker's share of the calls is")
    func smallShare() async throws {
        // Twenty seconds from call to call in the sandbox, and two in production, on a clock that runs a hundred times as fast.
        let bench = try await PipelineBench { try .withKey($0, share: 0.01) }
        let purchases = try (0..<3).map { _ in try bench.appStore.signedTransaction() }
        for purchase in purchases { bench.appStore.answer(about: purchase.transactionID, with: purchase.text) }
        let refused = AppStoreReply.response(httpStatus: 401, retryAfter: nil, body: [])
        bench.appStore.answerEveryone(with: [refused])
        bench.source.write(
            purchases.enumerated().map {
                PipelineBench.message("bare-\($0)", evidence: #""transactionId":"\#($1.transactionID)""#)
            })
        try await bench.run(untilSettled: 3)
        #expect(proofs(bench) == ["serverAPI", "serverAPI", "serverAPI"])
        #expect(bench.appStore.lookedUp.count == 4, "no try began anew")
    }

    @Test("a receipt is verified on the spot where the app says so, and a forged one is refused")
    func localReceipt() async throws {
        let bench = try await PipelineBench { RegisteredApp(app: $0, sharedSecrets: [], receipts: .local) }
        let forger = try ScriptedAppStore()
        bench.source.write([
            PipelineBench.message("genuine", receipt: try bench.appStore.receipt().base64),
            PipelineBench.message("forged", receipt: try forger.receipt().base64),
        ])
        try await bench.run(untilSettled: 2)
        #expect(proofs(bench) == ["local", "receipt_not_authentic"])
        #expect(bench.appStore.calls == 0)
    }

    @Test("a receipt's ids are looked up only if Apple signed the receipt")
    func receiptLookedUp() async throws {
        let bench = try await PipelineBench { try .withKey($0, receipts: .serverAPI) }
        let (genuine, id) = try bench.appStore.receipt()
        bench.appStore.answer(about: id, with: try bench.appStore.signedTransaction(id: id).text)
        let forged = try ScriptedAppStore().receipt()
        bench.source.write([
            PipelineBench.message("genuine", receipt: genuine, more: #","transactionId":"\#(id)""#),
            PipelineBench.message(
                "forged", receipt: forged.base64, more: #","transactionId":"\#(forged.transactionID)""#),
        ])
        try await bench.run(untilSettled: 2)
        #expect(proofs(bench) == ["receipt_not_authentic", "serverAPI"])
        #expect(bench.appStore.lookedUp == [id])
    }

    @Test("without a key the submission waits: it is our fault, and nobody's purchase fails")
    func withoutKey() async throws {
        let bench = try await PipelineBench()
        bench.source.write([PipelineBench.message("bare", evidence: #""transactionId":"1""#)])
        try await bench.run { try await $0.ledger.counts().submissions == [.held: 1] }
        #expect(try await bench.ledger.backlog().waiting == [.held(.credentialsMissing): 1])
        #expect(try await bench.ledger.counts().unpublished == 0, "nothing is told yet")
    }

    @Test("a transaction signed ahead of our clock waits until the clock has come up, and is granted")
    func signedAhead() async throws {
        let bench = try await PipelineBench()
        // Two minutes beyond the tolerance, on a clock that runs a hundred times as fast.
        let ahead = Self.start.advanced(by: .seconds(300 + 120))
        bench.source.write([
            PipelineBench.message("ahead", evidence: signed(try bench.appStore.signedTransaction(signedAt: ahead).text))
        ])
        // It may be parked before: how long it has to wait then depends on how fast the machine was so far.
        try await bench.run { !$0.sink.events.isEmpty }
        #expect(proofs(bench) == ["signedTransaction"])
    }
}
