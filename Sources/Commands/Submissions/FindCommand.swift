import CommandParser
import Configuration
import Contract
import Kafka
import Ledger

enum FindCommand {
    private static let word = Parameter.argument(
        "word", .text,
        help: "A submission, user, order, transaction or original transaction; one that begins with a hyphen stands "
            + "after --.")

    static let command = Command<CommandContext>(
        "find", "Finds submissions by whatever id is known of them, in all apps.",
        discussion: """
            One look through all that waits, was answered or granted, and through what is still owed of it. Original \
            transactions are found of purchases that are granted once for them. The id of an event is found nowhere: \
            its submission and its transaction stand in the event.

            Where the ledger has nothing, and for a user and an order, the topics are looked through: the first \
            \(TopicSearch.mostOfPartition) records of each partition that workers are not through with, and the latest \
            \(TopicSearch.mostOfPartition) quarantined ones. The user of these settings needs Read on both topics.
            """,
        CommonOptions.tabulating + [CommonOptions.limit, word], run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let (word, limit) = (try arguments[word], try arguments[CommonOptions.limit])
        let search = Search(word, limit: limit)
        let look = try arguments.ledger(context) { ledger throws(LedgerError) in
            try ledger.look(at: [], for: [search])
        }
        let (result, checkpoints) = (look.results.first ?? search.result([]), Checkpoints(look.partitions))
        let now = context.now()
        // A user or an order may have bought again. Other ids are of one purchase, which the ledger has.
        guard result.hits.isEmpty || result.isOfSeveral else {
            return try context.output(
                arguments.format(context).render(json: result.json(checkpoints)) { width in
                    result.text(checkpoints, now: now, width: width)
                })
        }
        guard !search.queries.isEmpty else {
            try context.output(arguments.format(context).render(json: result.json(checkpoints)) { _ in "" })
            throw Self.failure(word, ": an id has 1 to \(Search.mostBytes) bytes")
        }
        let topics = try Topics.look(word, limit: limit, look.partitions, beside: result, arguments, context)
        try context.output(
            arguments.format(context).render(json: topics.json(result, checkpoints)) { width in
                let found = result.hits.isEmpty ? "" : result.text(checkpoints, now: now, width: width)
                return found + topics.text(word, width: width, besideHits: !result.hits.isEmpty)
            })
        if result.hits.isEmpty, let end = topics.end { throw Self.failure(word, end) }
    }

    private static func failure(_ word: String, _ end: String) -> CommandFailure {
        let hint =
            TransactionID(asked: word).isWellFormed
            ? "; if it is Apple's, search by the user: what waits, is unread or was given up is mostly not found by it"
            : ""
        return CommandFailure(
            .failed, "nothing in the ledger has the id \"\(PrintableText.singleLine(word))\"\(hint)\(end)")
    }

    /// The look on the topics, which may be out of reach where the ledger is not.
    private struct Topics {
        /// Nil where the settings have no Kafka.
        let search: TopicSearch?
        /// Why not all could be looked through.
        let causes: [String]

        /// - Parameter result: of the ledger. Its records are not shown again.
        static func look(
            _ word: String, limit: Int, _ rows: [PartitionRow], beside result: SearchResult,
            _ arguments: ParsedArguments, _ context: CommandContext
        ) throws(CommandFailure) -> Topics {
            var progress = Progress(context)
            progress.show(
                nil,
                result.hits.isEmpty
                    ? "The ledger has nothing of it; the topics are looked through" : "The topics are looked through")
            defer { progress.end() }
            let settings: KafkaSettings
            do throws(CommandFailure) {
                settings = try arguments.kafkaSettings(context)
            } catch {
                return Topics(search: nil, causes: [error.message ?? ""])
            }
            let next = rows.compactMap { row in row.next.map { (row.partition, $0) } }
            let search = TopicSearch(
                word, limit: limit, next: Dictionary(next) { first, _ in first },
                known: Set(result.hits.map(\.row.origin)), now: context.now(), input: context.input(settings),
                quarantine: context.quarantine(settings))
            var causes: [String] = []
            for cause in search.failures.map(settings.words) where !causes.contains(cause) { causes.append(cause) }
            return Topics(search: search, causes: causes)
        }

        func json(_ result: SearchResult, _ checkpoints: Checkpoints) -> JSONOutput {
            let json = result.json(checkpoints)
            guard case .object(var members) = json else { return json }
            if let search {
                members["onTopics"] = search.json
                members["hasMore"] = .truth(result.hasMore || search.hasMore)
            }
            let unseen = causes + [search?.rest].compactMap(\.self)
            if !unseen.isEmpty { members["notLookedAt"] = .list(unseen.map { .string($0) }) }
            return .object(members)
        }

        /// - Parameter besideHits: Whether hits of the ledger stand before it. It then ends with what could not be looked
        ///   through, which is no failure.
        func text(_ word: String, width: Int?, besideHits: Bool) -> String {
            let text = search?.text(word, width: width) ?? ""
            guard besideHits else { return text }
            let notes = [unseen, search?.rest.map { "\($0) were not looked at" }].compactMap(\.self)
            return ([text] + notes.map { PrintableText.singleLine($0) + ".\n" }).filter { !$0.isEmpty }
                .map { "\n" + $0 }.joined()
        }

        private var unseen: String? {
            causes.isEmpty ? nil : "Not all topics can be looked through: \(causes.joined(separator: "; "))"
        }

        /// Nil if all could be looked through, and there are hits.
        var end: String? {
            if let search, !search.hits.isEmpty { return unseen.map { ". \($0)" } }
            if let unseen { return ": \(SubmissionWords.ofUnknown). \(unseen)" }
            return search.map { ". \($0.nothing)" }
        }
    }
}

extension SearchResult {
    /// Whether the word is what several purchases may have.
    fileprivate var isOfSeveral: Bool {
        hits.contains { $0.meanings.contains(.user) || $0.meanings.contains(.order) }
    }

    func json(_ checkpoints: Checkpoints) -> JSONOutput {
        let found = hits.map { hit in
            let own: [String: JSONOutput] = [
                "foundAs": .list(hit.meanings.map { .word($0) }),
                "owed": .list(hit.owed.map { OwedReport(row: $0).json }),
                "isUnpassed": hit.row.state.isWaiting ? .absent : .truth(checkpoints.isUnpassed(hit.row.origin)),
            ]
            return JSONOutput.object(hit.row.members.merging(own) { member, _ in member })
        }
        return .object(["found": .list(found), "hasMore": .truth(hasMore)])
    }

    /// A block for each hit: its subject, sentences about what came of it, and its ids, whole and ready to be copied.
    func text(_ checkpoints: Checkpoints, now: Timestamp, width: Int?) -> String {
        let grants = hits.map(\.row).filter { $0.state == .granted }
        var text = hits.map { $0.text(among: grants, checkpoints, now: now, width: width) }.joined(separator: "\n")
        if hasMore { text += "\nMore exist than these \(hits.count); --limit shows more, a list goes through all.\n" }
        return text
    }
}

extension SearchResult.Hit {
    /// - Parameter grants: All that were found.
    fileprivate func text(
        among grants: [SubmissionRow], _ checkpoints: Checkpoints, now: Timestamp, width: Int?
    ) -> String {
        let title = row.claimant.submissionID.rawValue
        let cause = row.cause.map { ": \($0)" } ?? ""
        let untold = row.cause == nil && !owed.isEmpty ? ", not told yet" : ""
        let answering = grants.first {
            row.state == .repeated && $0.transactionID == row.transactionID && $0.environment == row.environment
        }
        let words = row.words(owed: owed, answering: answering, checkpoints, now: now)
        return PrintableText.singleLine("\(title)  \(row.state.rawValue)\(cause)\(untold)") + "\n"
            + TextParagraph.text(words.sentences, width)
            + TextParagraph.text(facts: facts.map { "\($0) \($1)" }, width)
    }

    private var facts: [(name: String, value: String)] {
        let (claimant, moments) = (row.claimant, [("received", row.receivedAt), (row.state.rawValue, row.decidedAt)])
        let all: [(name: String, value: String?)] =
            [
                ("found as", meanings.map { $0.rawValue.replacing("_", with: " ") }.joined(separator: " and ")),
                ("user", claimant.userID.rawValue), ("order", claimant.orderID?.rawValue),
                ("app", claimant.bundleID.rawValue.isEmpty ? nil : claimant.bundleID.rawValue),
                ("product", row.productID?.rawValue), ("transaction", row.transactionID?.rawValue),
                ("environment", row.environment?.rawValue),
            ] + moments.map { ($0, $1?.rfc3339) }
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}
