import CommandParser
import Configuration
import Contract
import Kafka
import Ledger
import Scheduling

enum EventsCommand {
    private static let from = Parameter<Timestamp?>.option(
        "from", .moment, help: "Only those decided then or later, such as 2026-11-21T00:00:00Z.")
    private static let to = Parameter<Timestamp?>.option("to", .moment, help: "Only those decided before.")
    private static let state = Parameter<SubmissionState?>.option(
        "state", .choice(of: [.granted, .failed, .repeated]),
        help: "Only events of this state. Without it granted and failed ones.")
    private static let after = Parameter<SubmissionPage.Place?>.option(
        "after", .place, help: "Go on where an earlier call stopped: the place that it named.")
    private static let perSecond = MassChange.perSecond(500, "events")
    /// Most events that wait for their acknowledgements.
    private static let mostAtOnce = 1_000

    static let command = Command<CommandContext>(
        "events", "Tells events again.",
        subcommands: [
            Command(
                "republish", "Publishes the events of stored rows again, byte by byte.",
                discussion: """
                    For consumers that have lost events. Name a submission, a user, an app or a time. Each event has the \
                    id and the bytes that it had, so consumers that have it drop it. The command publishes by itself, \
                    beside the workers, at a pace. Copies that repeats asked for are told with --state repeated. Left out \
                    are grants that another system gave, users who were erased, and grants whose fulfilment call is owed. \
                    A call that was stopped names its place: give it with --after.
                    """,
                MassChange.options
                    + [
                        CommonOptions.app, CommonOptions.user, CommonOptions.submission, from, to, state, after,
                        perSecond,
                    ], run: republish)
        ])

    private static func republish(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        var scope = EventScope(
            bundleID: try arguments[CommonOptions.app], userID: try arguments[CommonOptions.user],
            submissionID: try arguments[CommonOptions.submission], from: try arguments[from], to: try arguments[to])
        guard scope.isNarrow else { throw .usage("name --submission, --user, --app, --from or --to") }
        if let state = try arguments[state] { scope.states = [state] }
        let start = try arguments[after]
        if let start, !scope.states.contains(start.state) { throw .usage("--after is a place of another state") }
        let (note, pace) = (try MassChange.apply.note(arguments, context), try arguments[perSecond])
        let session = try arguments.session(context)
        var walk = try EventWalk(scope, after: start, in: session)
        var publisher: EventPublisher?
        if let note {
            let kafka = try arguments.kafkaSettings(context)
            try refuseForeign(kafka, session, context)
            publisher = EventPublisher(sender: try context.sender(kafka, [.granted, .failed]), settings: kafka)
            try session { ledger throws(LedgerError) in try ledger.note(.republish, note.about(scope.words)) }
        }
        defer { publisher?.sender.close() }
        var told = Told()
        var progress = Progress(context)
        var clock = Pace(perSecond: pace, from: context.clock())
        let most = publisher == nil ? mostAtOnce : min(mostAtOnce, clock.portion)
        while true {
            let before = walk.place ?? start
            do throws(CommandFailure) {
                guard let page = try walk.next(most, in: session) else { break }
                if let publisher, !page.events.isEmpty {
                    context.pause(clock.pause(before: page.events.count, now: context.clock()))
                    try publisher.publish(page.events.map(\.event))
                }
                told.add(page)
            } catch {
                progress.end()
                throw stopped(error, told, at: before, isPublished: publisher != nil)
            }
            let place = walk.place.map { ", --after \($0.text)" } ?? ""
            progress.show(walk.part, "\(told.count.of("event", "events"))\(place)")
        }
        progress.end()
        if scope.namesAnID, told.isEmpty, start == nil {
            throw CommandFailure(.failed, try nothing(of: scope, in: session))
        }
        try context.output(
            arguments.format(context).render(json: told.json(isPublished: publisher != nil, last: walk.place)) { _ in
                told.text(isPublished: publisher != nil, perSecond: pace)
            })
    }

    /// Why an id has no event. Grants of another system have none, and the walk does not find them.
    private static func nothing(of scope: EventScope, in session: LedgerSession) throws(CommandFailure) -> String {
        let query = GrantQuery(bundleID: scope.bundleID, userID: scope.userID, submissionID: scope.submissionID)
        let grants = try session { ledger throws(LedgerError) in try ledger.grants(query) }
        guard !grants.isEmpty, grants.allSatisfy(\.grant.isImported) else {
            return "the ledger has no decided row of this user or submission that the options leave"
        }
        return "another system granted what the ledger has of this user or submission, so no event told of it"
    }

    /// Ends the command where these settings name another group, cluster or topics than the ledger's: consumers would
    /// get other platforms' grants.
    private static func refuseForeign(
        _ kafka: KafkaSettings, _ session: LedgerSession, _ context: CommandContext
    ) throws(CommandFailure) {
        guard let owner = try session({ ledger throws(LedgerError) in try ledger.group() }) else { return }
        let group: ConsumerGroup
        do throws(KafkaError) {
            group = try KafkaCheck(settings: kafka, cluster: context.cluster(kafka)).group()
        } catch {
            throw CommandFailure(.failed, "nothing was published: Kafka: \(kafka.words(error))")
        }
        let id = try session { ledger throws(LedgerError) in try ledger.identity() }
        if let refusal = group.refusal(of: id, owner: owner) { throw CommandFailure(.configuration, refusal) }
    }

    /// The end of a call that did not come to the end, with the way to go on.
    private static func stopped(
        _ failure: CommandFailure, _ told: Told, at place: SubmissionPage.Place?, isPublished: Bool
    ) -> CommandFailure {
        guard isPublished else { return failure }
        let rest = place.map { "go on with --after \($0.text)" } ?? "begin again"
        return CommandFailure(
            failure.status,
            "\(failure.message ?? "it was stopped"); \(told.count.of("event was", "events were")) published: \(rest)")
    }
}

/// Puts events on their topics.
private struct EventPublisher {
    let sender: any RecordSender
    let settings: KafkaSettings

    /// Returns once the brokers have all of them.
    /// - Throws: the end of the command; some of them may stand on their topics.
    func publish(_ events: [Event]) throws(CommandFailure) {
        do throws(KafkaRefusal) {
            _ = try sender.send(
                events.map { event in
                    KafkaProducerRecord(
                        topic: settings.topics[event.topic], key: event.key, value: event.value, headers: event.headers)
                })
        } catch {
            let words = sender.isAway ? "no broker can be reached" : error.words
            throw CommandFailure(.failed, "Kafka did not take an event: \(PrintableText.singleLine(words))")
        }
    }
}

/// A count of the events that a call has published or left out.
private struct Told {
    private var events: [Topic: Int] = [:]
    private var leftOut: [EventPage.LeftOut: Int] = [:]

    var count: Int { events.values.reduce(0, +) }
    var isEmpty: Bool { count == 0 && leftOut.isEmpty }

    mutating func add(_ page: EventPage) {
        for event in page.events { events[event.event.topic, default: 0] += 1 }
        leftOut.merge(page.leftOut, uniquingKeysWith: +)
    }

    func text(isPublished: Bool, perSecond: Int) -> String {
        let (granted, failed) = (events[.granted] ?? 0, events[.failed] ?? 0)
        var text = "\(granted) granted and \(failed.of("failed event", "failed events")) "
        if isPublished {
            text += "published.\n"
        } else {
            let time = Duration.seconds(count / perSecond).rough
            text += "would be published, in \(time) at \(perSecond) a second; --apply does it.\n"
        }
        for (cause, count) in leftOut.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            text += "\(count) left out: \(cause.words).\n"
        }
        return text
    }

    func json(isPublished: Bool, last: SubmissionPage.Place?) -> JSONOutput {
        .object([
            "applied": .truth(isPublished), "granted": .count(events[.granted] ?? 0),
            "failed": .count(events[.failed] ?? 0),
            "leftOut": .object(
                Dictionary(uniqueKeysWithValues: leftOut.map { ($0.key.rawValue, .count($0.value)) })),
            "last": .text(last?.text),
        ])
    }
}

extension EventPage.LeftOut {
    fileprivate var words: String {
        switch self {
        case .callOwed: "a fulfilment call is owed, and comes before the event"
        case .erased: "the user was erased"
        case .laterVersion: "only a later version of grantor makes the event"
        }
    }
}
