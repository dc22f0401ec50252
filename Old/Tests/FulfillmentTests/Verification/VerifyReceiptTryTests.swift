import AppStore
import Purchases
import Testing

@testable import Fulfillment

@Suite("One try of a receipt, without a task")
struct VerifyReceiptTryTests {
    private static let isMalformed = #"{"status":21002}"#
    private static let isOfTheSandbox = #"{"status":21007}"#

    private let bench: VerifierBench
    private var appStore: HeldAppStore { bench.appStore }
    private var apple: AppleAvailability { bench.apple }

    init() throws { bench = try VerifierBench() }

    /// A try, and what it ended with so far.
    private func makeTry() -> (VerifyReceiptTry, Shared<[TryResult?]>) { (bench.makeTry(), Shared([])) }

    @Test("goes on within each answer, until there is a verdict")
    func untilVerdict() {
        let (receiptTry, ends) = makeTry()
        receiptTry.begin { verdict in ends.change { $0.append(verdict) } }
        #expect(appStore.asked == [.production])
        appStore.answer(Self.isOfTheSandbox)
        #expect(appStore.asked == [.production, .sandbox])
        #expect(ends.value.isEmpty)
        appStore.answer(bench.isAuthentic)
        guard case .verdict(.verified(let purchases, by: _), by: .verifyReceipt(.sandbox))?? = ends.value.first else {
            Issue.record("no purchase, but \(ends.value)")
            return
        }
        #expect(purchases.map(\.purchase.transactionID) == [bench.transactionID])
        #expect(ends.value.count == 1)
        #expect(apple.status.inFlight == 0)
    }

    @Test("says whose answer its verdict follows from: trouble elsewhere does not explain it")
    func whoseAnswer() {
        let (receiptTry, ends) = makeTry()
        receiptTry.begin { verdict in ends.change { $0.append(verdict) } }
        appStore.answer(Self.isMalformed)
        guard case .verdict(.retry, by: .verifyReceipt(.production))?? = ends.value.first else {
            Issue.record("\(ends.value)")
            return
        }
    }

    @Test("an answer about another receipt is asked for again at once, and then later: it grants nothing")
    func otherReceipt() {
        let (receiptTry, ends) = makeTry()
        receiptTry.begin { verdict in ends.change { $0.append(verdict) } }
        appStore.answer(bench.isOfAnotherReceipt(77))
        #expect(appStore.asked == [.production, .production])
        #expect(appStore.fresh == [false, true])
        appStore.answer(bench.isOfAnotherReceipt(78))
        let asked = Verdict.retry(.noAnswer, notBefore: nil, patience: .unlimited)
        #expect(ends.value == [.verdict(asked, by: .verifyReceipt(.production))])
        #expect(apple.status.inFlight == 0)
    }

    @Test("waits for its turn, and is called by whoever ends the call before it")
    func turns() {
        let ends = Shared([TryResult?]())
        for _ in 0..<100 { makeTry().0.begin { verdict in ends.change { $0.append(verdict) } } }
        for ended in 0..<100 {
            #expect(ends.value.count == ended)
            #expect(appStore.open == 1)
            #expect(apple.status.waiting == 99 - ended)
            appStore.answer(Self.isMalformed)
        }
        #expect(ends.value.count == 100)
        #expect(apple.status == AppleStatus(waiting: 0, inFlight: 0, away: [], holdsIntake: false, holdsDue: false))
    }

    @Test("given up while it waits, it makes no call and leaves the line")
    func givenUpInLine() {
        makeTry().0.begin { _ in }
        let (waiting, ends) = makeTry()
        waiting.begin { verdict in ends.change { $0.append(verdict) } }
        #expect(apple.status.waiting == 1)
        waiting.giveUp()
        #expect(ends.value == [nil])
        #expect(apple.status.waiting == 0)
        appStore.answer(Self.isMalformed)
        #expect(appStore.asked == [.production])
        #expect(apple.status.inFlight == 0)
        #expect(ends.value == [nil])
    }

    @Test("given up while its call is under way, it ends at once; the answer gives the turn back and does nothing else")
    func givenUpInCall() {
        let (receiptTry, ends) = makeTry()
        receiptTry.begin { verdict in ends.change { $0.append(verdict) } }
        receiptTry.giveUp()
        receiptTry.giveUp()
        #expect(ends.value == [nil])
        #expect(apple.status.inFlight == 1)
        appStore.answer(Self.isOfTheSandbox)
        #expect(appStore.asked == [.production])
        #expect(ends.value == [nil])
        #expect(apple.status.inFlight == 0)
    }

    @Test("given up just before its next call, it does not stay in line")
    func givenUpBetweenCalls() {
        let (receiptTry, ends) = makeTry()
        receiptTry.begin { verdict in ends.change { $0.append(verdict) } }
        makeTry().0.begin { _ in }
        // The end of its first call lets the other one go, before it asks for its second.
        appStore.atNextCall { receiptTry.giveUp() }
        appStore.answer(Self.isOfTheSandbox)
        #expect(ends.value == [nil])
        #expect(appStore.asked == [.production, .production])
        #expect(apple.status.waiting == 0)
        appStore.answer(Self.isMalformed)
        #expect(apple.status.inFlight == 0)
    }

    @Test("nothing is asked, and no verdict given, once nothing begins any more")
    func closed() {
        apple.close()
        let (receiptTry, ends) = makeTry()
        receiptTry.begin { verdict in ends.change { $0.append(verdict) } }
        #expect(ends.value == [nil])
        #expect(appStore.asked.isEmpty)
    }

    @Test("a task that waits for one gives it up when it is cancelled")
    func cancelledTask() async {
        makeTry().0.begin { _ in }
        let task = Task { await bench.verifier.verify(bench.opened, isRetry: false, asker: .topic) }
        while apple.status.waiting == 0 { await Task.yield() }
        task.cancel()
        #expect(await task.value == nil)
        #expect(apple.status.waiting == 0)
        appStore.answer(Self.isMalformed)
        #expect(appStore.asked == [.production])
    }

    @Test("a task that is cancelled already asks nothing, though there is room")
    func cancelledBefore() async {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await bench.verifier.verify(bench.opened, isRetry: false, asker: .topic)
        }
        task.cancel()
        #expect(await task.value == nil)
        #expect(appStore.asked.isEmpty)
        #expect(apple.status.inFlight == 0)
    }

    @Test("a task that is cancelled while its call is under way does not wait for the answer")
    func cancelledInCall() async {
        let task = Task { await bench.verifier.verify(bench.opened, isRetry: false, asker: .topic) }
        while appStore.open == 0 { await Task.yield() }
        task.cancel()
        #expect(await task.value == nil)
        #expect(apple.status.inFlight == 1)
        appStore.answer(Self.isMalformed)
        #expect(apple.status.inFlight == 0)
    }
}
