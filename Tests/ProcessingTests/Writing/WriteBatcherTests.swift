import Contract
import Ledger
import MemberTesting
import Scheduling
import Testing

@testable import Processing

@Suite("Batches of decisions")
final class WriteBatcherTests {
    private var batcher = WriteBatcher(
        mostRows: CoreSettings().rowsPerBatch, mostBytes: CoreSettings().bytesPerBatch)
    private var flights = Flights(vacant: .vacant, capacity: 16)
    private var now = Instant.zero + .seconds(1)
    private var random = SplitMix64(seed: 1)

    @discardableResult
    private func add(_ id: String, _ purchases: String..., rows: Int? = nil) -> SubmissionToken {
        let content =
            purchases.isEmpty
            ? Decision.Content.fail(Rejection(.unknownProduct, "No such product."))
            : .grant(purchases.map { Fixture.purchase($0) }, by: .local)
        return add(id, content, rows: rows ?? max(1, purchases.count))
    }

    private func add(
        _ id: String, _ content: Decision.Content, rows: Int = 1, bytes: Int64 = 0, isLeased: Bool = false
    ) -> SubmissionToken {
        var flight = Flight(.nobody)
        flight.state = .writing
        let submission = Fixture.submission(0, id: id)
        flight.subject = .submission(submission)
        flight.content = content
        let token = flights.insert(flight)
        batcher.add(
            token, rows: rows, bytes: bytes, BatchKeys(submission: submission.claimant, content), isLeased: isLeased)
        return token
    }

    private func start() -> [SubmissionToken]? { batcher.start(at: now, in: flights)?.tokens }

    private func end() {
        guard let id = batcher.id else { return }
        _ = batcher.ended(id)
    }

    @Test("hold nothing that is not decided: results belong to decisions by their order")
    func undecided() {
        let token = add("a", "1")
        flights[token].content = nil
        let decided = add("b", "2")
        #expect(start() == [decided])
    }

    @Test("start at once where nothing was written for a while")
    func idle() {
        let token = add("a", "1")
        #expect(start() == [token])
    }

    @Test("never start beside another")
    func beside() {
        add("a", "1")
        _ = start()
        add("b", "2")
        now += .milliseconds(50)
        #expect(start() == nil)
        end()
        #expect(start()?.count == 1)
    }

    private func addLeased(_ id: String, rows: Int = 1) -> SubmissionToken {
        add(id, .fail(Rejection(.unknownProduct, "No such product.")), rows: rows, isLeased: true)
    }

    @Test("wait for 100 ms since the last start where all are about rows of retries, and go with the first record's")
    func leased() {
        let first = addLeased("a")
        #expect(start() == [first], "nothing was written for a while")
        end()
        let second = addLeased("b")
        #expect(batcher.nextMoment == now + .milliseconds(100))
        now += .milliseconds(50)
        let third = addLeased("c")
        #expect(start() == nil)
        now += .milliseconds(50)
        #expect(start() == [second, third])
        end()
        let fourth = addLeased("d")
        now += .milliseconds(1)
        let record = add("e")
        #expect(start() == [fourth, record])
        end()
        _ = addLeased("f", rows: WriteBatcher.enoughRows)
        #expect(start()?.count == 1, "enough rows")
    }

    @Test("wait no longer for rows of retries after a record's decision that is written no more, or written again")
    func leasedAgain() {
        add("a")
        _ = start()
        end()
        let gone = add("b")
        let leased = addLeased("c")
        flights.remove(gone)
        now += .milliseconds(10)
        #expect(start() == [leased], "the record's was counted")
        if let id = batcher.id { batcher.failed(id, at: now, using: &random) }
        now += .seconds(6)
        #expect(start() == [leased])
        end()
        let last = addLeased("d")
        #expect(start() == nil)
        now += .milliseconds(100)
        #expect(start() == [last])
    }

    @Test("start no sooner than 0.5 ms after the last start for each row of that batch, and 10 ms after a large one")
    func pause() {
        for (number, (rows, pause)) in [(1, 500), (6, 3000), (20, 10_000), (200, 10_000)].enumerated() {
            now += .seconds(1)
            add("first\(number)", "f\(number)", rows: rows)
            #expect(start()?.count == 1)
            end()
            add("next\(number)", "n\(number)")
            #expect(start() == nil)
            #expect(batcher.nextMoment == now + .microseconds(pause))
            now += .microseconds(pause)
            #expect(start()?.count == 1)
            end()
        }
    }

    @Test("start at once with 256 rows")
    func enough() {
        add("a", "1")
        _ = start()
        end()
        for number in 0..<255 { add("b\(number)", "t\(number)") }
        #expect(start() == nil)
        add("last", "tlast")
        #expect(start()?.count == 256)
    }

    @Test("hold each submission, transaction and original transaction once; what stays out is next, in order")
    func once() {
        let first = add("a", "1")
        let sameSubmission = add("a", "2")
        let samePurchase = add("b", "1")
        let other = add("c", "3")
        #expect(start() == [first, other])
        end()
        now += .milliseconds(10)
        #expect(start() == [sameSubmission, samePurchase])
    }

    @Test(
        "hold no grant beside a submission that waits for it, by its transaction or its key",
        arguments: [("1", "t:9"), ("2", "t:1"), ("3", "p:1:1795953600000"), ("4", "w:70")])
    func waiting(transaction: String, key: String) {
        let name = NamedPurchase(
            TransactionID(transaction), of: "gems", GrantKey(environment: .production, name: key))
        let entry = RetryEntry(
            cause: .held(.productNotConfigured), detail: "", delay: 0, history: AttemptHistory(), doubt: nil,
            isSigned: false, purchases: [name])
        var passing = Fixture.purchase("7")
        passing.passedOver = PassedOver(
            [PassedOver.Entry(name.transactionID, "gems", .productNotConfigured)],
            holding: [PassedOver.Holding(.productNotConfigured, name)])
        for content in [Decision.Content.wait(entry), .grant([passing], by: .local)] {
            let granting = add("a", .grant([Fixture.purchase("1", lineItem: "70")], by: .local))
            let waiting = add("b", content)
            #expect(start() == [granting])
            end()
            now += .milliseconds(10)
            #expect(start() == [waiting])
            end()
            now += .milliseconds(10)
        }
    }

    @Test("hold any number of submissions that wait for one purchase")
    func waitingTogether() {
        let name = NamedPurchase("1", of: "gems", GrantKey(environment: .production, name: "t:1"))
        let entry = RetryEntry(
            cause: .held(.productNotConfigured), detail: "", delay: 0, history: AttemptHistory(), doubt: nil,
            isSigned: false, purchases: [name])
        let waiting = ["a", "b", "c"].map { add($0, Decision.Content.wait(entry)) }
        let granting = add("d", "1")
        #expect(start() == waiting)
        end()
        now += .milliseconds(10)
        #expect(start() == [granting])
    }

    @Test("hold a purchase once where another submission has several")
    func several() {
        add("a", "1", "2", "3")
        add("b", "3")
        #expect(start()?.count == 1)
    }

    @Test("hold 1024 rows at most, and a decision with more of them alone")
    func most() {
        add("a", "1", rows: 5000)
        add("b", "2")
        #expect(start()?.count == 1)
        end()
        for number in 0..<2000 { add("c\(number)", "t\(number)") }
        now += .milliseconds(10)
        #expect(start()?.count == 1024)
    }

    @Test("hold 4 MiB of evidence at most, and a decision with more of it alone")
    func mostBytes() {
        let failing = Decision.Content.fail(Rejection(.unknownProduct, "No such product."))
        let large = add("a", failing, bytes: 5 << 20)
        let (second, third, fourth) = (
            add("b", failing, bytes: 3 << 20), add("c", failing, bytes: 2 << 20), add("d", failing, bytes: 1 << 20)
        )
        for batch in [[large], [second, fourth], [third]] {
            #expect(start() == batch)
            end()
            now += .milliseconds(10)
        }
    }

    @Test("leave out what has left meanwhile")
    func gone() {
        let token = add("a", "1")
        flights.remove(token)
        #expect(start() == nil)
        #expect(batcher.isEmpty)
        #expect(batcher.nextMoment == nil)
    }

    @Test("are made anew of the same decisions, before all others, where it is not known what became of them")
    func failed() throws {
        let first = add("a", "1")
        _ = start()
        let second = add("b", "2")
        batcher.failed(try #require(batcher.id), at: now, using: &random)
        #expect(start() == nil, "the ledger is given a moment")
        now = try #require(batcher.nextMoment)
        #expect(start() == [first, second])
    }

    @Test("know a result of another batch for what it is")
    func stale() throws {
        add("a", "1")
        _ = start()
        #expect(result { batcher.ended(BatchID(rawValue: 99)) } == nil)
        let id = try #require(batcher.id)
        #expect(result { batcher.ended(id) }?.count == 1)
    }
}

@Suite("What a batch holds once")
struct BatchKeysTests {
    private let claimant = Claimant(submissionID: "s", userID: "u", bundleID: "b", orderID: nil, traceparent: nil)

    private func keys(_ granted: GrantablePurchase) -> Set<UInt64> {
        let keys = BatchKeys(submission: claimant, .grant([granted], by: .local))
        return Set([keys.transaction, keys.original] + keys.more).subtracting([0])
    }

    private func purchase(_ id: String, original: String, lineItem: String? = nil) throws -> GrantablePurchase {
        let purchase = Purchase.sample(
            TransactionID(id), original: TransactionID(original), lineItem: lineItem, product: "p")
        return try #require(GrantablePurchase(purchase, of: Product(id: "p", type: .autoRenewable, items: [])))
    }

    @Test("a restored purchase and its original share a key, whatever kind the catalogue calls it")
    func restored() throws {
        let original = keys(Fixture.purchase("1"))
        #expect(!original.isDisjoint(with: keys(Fixture.purchase("2", original: "1"))))
        #expect(original.isDisjoint(with: keys(Fixture.purchase("3"))))
    }

    @Test("two copies of one paid period share a key")
    func period() throws {
        let first = keys(try purchase("1", original: "0", lineItem: "77"))
        let second = keys(try purchase("2", original: "9", lineItem: "77"))
        #expect(!first.isDisjoint(with: second))
    }

    @Test("two apps' submissions with one id do not")
    func apps() {
        let other = Claimant(submissionID: "s", userID: "u", bundleID: "c", orderID: nil, traceparent: nil)
        let fail = Decision.Content.fail(Rejection(.unknownApp, "No such app."))
        #expect(
            BatchKeys(submission: claimant, fail).submission != BatchKeys(submission: other, fail).submission)
    }
}
