/// A promise that was broken, with what shows it.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
    public enum Promise: String, Hashable, Sendable, CaseIterable {
        /// A paid purchase is granted.
        case granted = "a paid purchase is granted"
        /// A purchase is granted once, to one user.
        case once = "a purchase is granted once"
        /// Nothing is granted that was not proven.
        case proven = "nothing is granted that was not proven"
        /// Every copy of an event is the same bytes.
        case copies = "every copy of an event is the same bytes"
        /// Every event tells of a row.
        case rows = "every event tells of a row"
        /// A submission is told granted or failed, not both.
        case oneAnswer = "a submission has one answer"
        case told = "every outcome is told"
        /// A claim of a purchase that its user holds does not fail, and every claim is told its own answer.
        case ownAnswer = "every claim has its own answer"
        /// An event has the bought product, its number and its order.
        case contents = "an event says what was bought"
        /// A marked copy goes to who claims the purchase again.
        case marks = "a copy answers who asked for it"
        /// An undecided decision leaves no row.
        case undecided = "what is undecided leaves nothing"
        /// Apple is asked while it answers.
        case asked = "Apple is asked while it answers"
        /// A fulfilment service hears of a grant before anybody else.
        case calledFirst = "the fulfilment service hears first"
        /// A fulfilment service hears of every grant of its app.
        case called = "the fulfilment service hears of every grant"
        /// A record that cannot be read is on the quarantine topic, and nothing else is.
        case quarantined = "what cannot be read is quarantined"
        /// A batch that is written holds each submission and purchase once.
        case batches = "a batch holds everything once"
        /// No offset passes a record that is not complete.
        case offsets = "no offset passes a record that is not complete"
        /// A doubt fails after five doubting replies and six hours of them, no sooner.
        case doubt = "a doubt has its time"
        /// Evidence that needs no call waits for none.
        case isolation = "what needs nobody waits for nobody"
        /// Operators have the last word: a submission that they abandoned is not granted afterwards.
        case abandoned = "what was abandoned stays so"
        /// A submission is held for ending workers only if it does.
        case held = "what ends no worker is not held for it"
        /// A worker goes on unless a person must look.
        case stopped = "a worker goes on"
        /// An endpoint that named a moment is not called before it, and none more often than its limit says.
        case limits = "an endpoint is not called too often"
        /// Submissions that our configuration holds are tried again once that is mended.
        case mended = "what was held is tried again at once"
        /// The core's machines take the transitions that are declared, and no others.
        case declared = "machines go declared ways"
        /// Everything comes to an end.
        case endless = "everything comes to an end"
    }

    public let promise: Promise
    public let detail: String

    init(_ promise: Promise, _ detail: String) {
        self.promise = promise
        self.detail = detail
    }

    public var description: String { "\(promise.rawValue): \(detail)" }
}
