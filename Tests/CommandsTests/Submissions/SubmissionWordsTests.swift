import Contract
import Ledger
import Testing

@testable import Commands

@Suite("What came of a submission")
struct SubmissionWordsTests {
    private func words(_ state: SubmissionState, _ cause: String? = nil) -> SubmissionWords {
        SubmissionWords(
            state: state, cause: cause, detail: cause == nil ? nil : "The detail.",
            next: state.isWaiting
                ? NextTry(dueAt: FixedLedger.time.advanced(by: .seconds(15)), isLeased: false, now: FixedLedger.time)
                : nil,
            now: FixedLedger.time)
    }

    private func text(_ state: SubmissionState, _ cause: String? = nil) -> String {
        words(state, cause).sentences.joined(separator: " ")
    }

    private static let next = "in 15 s, at 2023-11-14T22:13:35.000Z"
    private static let safe = "Tell the player: \"Your purchase is safe, and will be delivered.\""
    private static let stillAsking =
        "Tell the player: \"We are still asking Apple about this purchase. If you were charged, please restore purchases.\""

    @Test("A grant says whether everybody knows of it, and where to look next")
    func granted() {
        let told =
            "Nothing is owed of it any more: if the player has nothing, look at the game's service that reads the event. "
            + "Submitting again gives nothing."
        #expect(text(.granted) == "The purchase is the user's. \(told)")
        var several = words(.granted)
        several.grants = 2
        #expect(several.sentences.first == "2 purchases are the user's.")
        several.isImported = true
        #expect(several.sentences.last == "Another system granted it, so no event told of it.")
    }

    @Test("A repeat says whether its order is paid, and where the items came from, or how to see that")
    func repeated() {
        func text(_ order: OrderID?, _ answering: Grant?) -> String {
            var words = words(.repeated)
            (words.order, words.transaction) = (order, "1000001")
            words.answering = answering.map { SubmissionRow(GrantRow(sequence: 1, grant: $0)) }
            return words.sentences.joined(separator: " ")
        }
        let first = "The purchase is the user's, by the grant of another submission."
        let service =
            "Nothing is owed of it any more: if the player has nothing, look at the game's service that reads the event"
        #expect(text("o-1", FixedLedger.grant()) == "\(first) \(service). Submitting again gives nothing.")
        #expect(text(nil, FixedLedger.grant()) == text("o-1", FixedLedger.grant()))
        let unpaid = "Order other is paid by a grant of its own alone: grantor find other shows whether one is there."
        #expect(text("other", FixedLedger.imported).hasPrefix("\(first) \(unpaid) "))
        let imported =
            "Another system granted it, and its event gives no items: if the player has nothing, look at that system."
        #expect(text(nil, FixedLedger.imported) == "\(first) \(imported) Submitting again gives nothing.")
        let unknown =
            "\(service), or, if that grant is an imported one, at the system that it came from: grantor find 1000001 shows it. "
            + "Submitting again gives nothing."
        #expect(text(nil, nil) == "\(first) \(unknown)")
        #expect(text("other", nil) == "\(first) \(unpaid) \(unknown)")
    }

    @Test("An hour after the decision no event is on its way, so nothing is promised of it")
    func neverPassed() {
        func sentences(_ state: SubmissionState, after age: Duration) -> [String] {
            var words = words(state)
            words.isUnpassed = true
            words.decidedAt = FixedLedger.time.advanced(by: .zero - age)
            return Array(words.sentences.dropFirst())
        }
        for state in [SubmissionState.granted, .repeated] {
            let early = sentences(state, after: .seconds(3_599))
            #expect(early.first?.hasPrefix("Its event may be on its way: ") == true)
            #expect(early.last == Self.safe)
            let option = state == .repeated ? " --state repeated" : ""
            #expect(
                sentences(state, after: .seconds(3_600)) == [
                    "No checkpoint has passed its record for an hour: its partition stands, its topic was made anew, or the "
                        + "ledger was moved. If the player has nothing, look at the game's service that reads the event. "
                        + "If it lacks the event, grantor events republish --submission ID\(option) tells it again. "
                        + "Submitting again gives nothing."
                ])
        }
    }

    @Test("A test purchase is told as one, and its player hears nothing of a delivery")
    func test() {
        for state in [SubmissionState.repeated, .granted] {
            var words = words(state)
            words.isTest = true
            words.isUnpassed = true
            #expect(
                words.sentences.contains(
                    "It is a test purchase of the sandbox: nothing is given for it outside of tests."))
            #expect(!words.sentences.contains(Self.safe))
        }
    }

    @Test("What is owed is said in place of that, and Kafka is not blamed before it was tried")
    func owed() {
        func last(_ step: OutboxStep, attempts: Int) -> String? {
            var words = words(.granted)
            let owed = FixedLedger.owed(step)
            words.owed = [
                OutboxRow(
                    key: owed.key, step: step, target: owed.target, dueAt: owed.dueAt, owedSince: owed.owedSince,
                    isLeased: false, attempts: attempts)
            ]
            #expect(words.sentences.last == Self.safe)
            return words.sentences.dropLast().last
        }
        #expect(last(.publish, attempts: 0) == "The event that says so is about to be published.")
        #expect(
            last(.publish, attempts: 4)
                == "Kafka has not taken the event that says so, which is owed since 2023-11-14T22:13:20.000Z, after 4 attempts. To "
                + "do: grantor check says why. Then it is published by itself: do not submit again, and give nothing by "
                + "hand.")
        #expect(last(.call, attempts: 4) == "The app's inventory service has not been told of it yet.")
    }

    @Test("A failure whose event is owed may be submitted again, as ever")
    func owedFailure() {
        var words = words(.failed, FailureReason.receiptMalformed.rawValue)
        words.owed = [
            OutboxRow(
                key: .failed(SubmissionKey(bundleID: "com.example.game", submissionID: "s-1")), step: .publish,
                target: .topic(.failed),
                dueAt: FixedLedger.time, owedSince: FixedLedger.time, isLeased: false, attempts: 4)
        ]
        #expect(words.sentences.contains { $0.hasSuffix("Then it is published by itself.") })
        #expect(!words.sentences.contains { $0.contains("do not submit again") })
    }

    @Test("Purchases that were left out are told at once")
    func left() {
        var words = words(.granted)
        let entries = [
            PassedOver.Entry("1", "a", .transactionRevoked), PassedOver.Entry("2", "b", .productNotConfigured),
        ]
        words.passedOver = [PassedOver(Array(entries.prefix(1)))].compactMap(\.self)
        #expect(
            words.sentences[1] == "1 more purchase was left out (transaction_revoked), and does not come by itself.")
        #expect(words.sentences.last?.contains("again") == false)
        words.passedOver = [PassedOver(entries)].compactMap(\.self)
        #expect(
            words.sentences[1]
                == "2 more purchases were left out (product_not_configured, transaction_revoked), and do not come by "
                + "themselves.")
        #expect(
            words.sentences[2]
                == "Once the apps file lists what is missing there, the backend has to submit the evidence again, under a new "
                + "id, unless it was granted since."
        )
    }

    @Test("A failure says whether it is final, and what the player may hear", arguments: FailureReason.allCases)
    func failed(reason: FailureReason) {
        guard reason != .abandonedByOperator else {
            var words = words(.failed, reason.rawValue)
            words.detail = "given by hand"
            #expect(
                words.sentences == [
                    "Nothing was granted.", "A person ended it, and wrote: \"given by hand\".",
                    "If they gave nothing in its place, the backend may submit it again under a new id.",
                    "Tell the player what they decided.",
                ])
            return
        }
        let again =
            switch reason.again {
            case .no: "This is final."
            case .otherContent: "The backend may submit it again with mended or fresh content, under a new id."
            case .sameContent: "Once the cause is mended, the backend has to submit it again, under a new id."
            }
        #expect(
            text(.failed, reason.rawValue)
                == "Nothing was granted. The detail. \(again) Tell the player: \"\(reason.wordsForPlayer)\"")
    }

    @Test("What waits for us says the step, and names no next try where no time helps", arguments: HoldCause.allCases)
    func held(cause: HoldCause) {
        var words = words(.held, cause.rawValue)
        words.isSigned = true
        let text = words.sentences.joined(separator: " ")
        #expect(
            text.hasPrefix(
                "Neither granted nor refused: it waits for our side. The detail. To do: \(cause.remedy)."))
        // A claim without the order is granted for none, and answers the held one: its order would get no event.
        #expect(!text.contains("submit it again") || text.contains("for the same orderId"))
        let isTimeOfUse = ![.endsWorkers, .accountTokenMissing, .advancedCommerce, .partialRefund].contains(cause)
        #expect(text.contains("Then it goes on by itself: it is tried again \(Self.next).") == isTimeOfUse)
        #expect(text.hasSuffix(Self.safe) == (cause != .noDecision))
        #expect(text.hasSuffix(Self.stillAsking) == (cause == .noDecision), "Apple has not confirmed it")
    }

    @Test("What is held is promised only where Apple has attested it")
    func heldPromise() {
        #expect(text(.held, "product_not_configured").hasSuffix(Self.safe))
        for cause in ["credentials_missing", "shared_secret_refused", "app_not_configured"] {
            var words = words(.held, cause)
            #expect(words.sentences.last == "Tell the player: \"\(SubmissionWords.whileUnverified)\"", "\(cause)")
            words.isSigned = true
            #expect(words.sentences.last == Self.safe, "\(cause)")
        }
    }

    @Test("The remedy for a shared secret is true where Apple refuses it, and where none is configured")
    func secret() {
        #expect(
            text(.held, "shared_secret_refused").contains("To do: the app needs a shared secret that Apple takes: "))
    }

    @Test("What waits for Apple says what Apple did, and when it is asked again", arguments: RetryCause.allCases)
    func retrying(cause: RetryCause) {
        var words = words(.retrying, cause.rawValue)
        words.isSigned = true
        let text = words.sentences.joined(separator: " ")
        #expect(text.hasPrefix("Neither granted nor refused yet. "))
        #expect(text.contains(Self.next) == (cause != .endpointUnavailable))
        #expect(
            text.contains("Apple cannot tell.")
                == [.unreachable, .noAnswer, .rateLimited, .temporarilyUnable].contains(cause))
        #expect(text.contains("correct this host's clock") == (cause == .signedAhead))
        let isInDoubt = text.contains("That may not be Apple's last word")
        #expect(isInDoubt == cause.isDoubt)
        #expect(text.contains("Two words of Apple's contradict each other") == (cause == .noLongerFound))
        let mayBeRefused = isInDoubt || cause == .noLongerFound
        #expect(text.hasSuffix(Self.safe) == !mayBeRefused)
        #expect(text.hasSuffix(Self.stillAsking) == mayBeRefused)
    }

    @Test("A delivery is promised only of what Apple has signed", arguments: RetryCause.allCases)
    func unproven(cause: RetryCause) {
        // Nothing waits for this cause whose signature does not hold.
        #expect(text(.retrying, cause.rawValue).hasSuffix(Self.safe) == (cause == .signedAhead))
    }

    @Test("Words of a later version lead to no wrong advice")
    func later() {
        #expect(text(.failed, "of_tomorrow") == "Nothing was granted. The detail.")
        #expect(
            text(.held, "of_tomorrow")
                == "Neither granted nor refused: it waits for our side. The detail. Then it goes on by itself: it is tried "
                + "again \(Self.next). Tell the player: \"\(SubmissionWords.whileUnverified)\"")
        #expect(
            text(.retrying, "of_tomorrow")
                == "Neither granted nor refused yet. Apple cannot tell. The detail. It is asked again \(Self.next). "
                + "\(Self.stillAsking)")
    }
}
