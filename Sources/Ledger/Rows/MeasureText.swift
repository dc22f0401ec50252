import Contract

extension LedgerMeasure {
    /// The form of a column: a line for the outbox, one for each app, endpoint, held group and app with calls. Behind
    /// an endpoint's or a group's line follow the time of its oldest record and the details.
    public var text: String {
        func line(_ kind: String, _ numbers: [Int64], _ words: String) -> String {
            let flat = String(words.map { $0.isNewline ? " " : $0 })
            return "\(kind) \(numbers.map { "\($0)" }.joined(separator: " ")) \(flat)"
        }
        var lines = [line("outbox", [Int64(outboxRows), outboxAge, Int64(later)], "")]
        lines += retries.map { line("app", [Int64($0.rows), $0.bytes], $0.bundleID.rawValue) }
        func since(_ oldest: Timestamp?) -> [String] {
            oldest.map { [line("since", [$0.milliseconds], "")] } ?? []
        }
        for waiting in waiting {
            lines.append(line("waiting", [Int64(waiting.rows)], waiting.endpoint?.text ?? ""))
            lines += since(waiting.oldest)
        }
        for held in held {
            lines.append(line("held", [Int64(held.rows)], "\(held.group.cause.rawValue) \(held.group.bundleID)"))
            lines += since(held.oldest)
            lines += held.details.map { line("detail", [0], $0) }
        }
        lines += calls.map { calls in
            line(
                "calls", [Int64(calls.rows), Int64(calls.refused), calls.oldest?.milliseconds ?? 0],
                calls.bundleID.rawValue)
        }
        return lines.joined(separator: "\n")
    }

    /// The sample in a column; nil for a column without the first line. Lines of another form are left out.
    public init?(text: String) {
        var retries: [App] = []
        var waiting: [Waiting] = []
        var held: [(bundleID: BundleID, cause: HoldCause, rows: Int, details: [String], oldest: Timestamp?)] = []
        var calls: [Calls] = []
        var outbox: (rows: Int, age: Int64, later: Int)?
        for line in text.split(separator: "\n") {
            var rest = line[...]
            func word() -> String {
                let end = rest.firstIndex(of: " ") ?? rest.endIndex
                defer { rest = end < rest.endIndex ? rest[rest.index(after: end)...] : "" }
                return String(rest[..<end])
            }
            let kind = word()
            guard let first = Int64(word()) else { continue }
            switch kind {
            case "outbox":
                guard let age = Int64(word()), let later = Int(word()) else { continue }
                outbox = (Int(first), age, later)
            case "app":
                guard let bytes = Int64(word()) else { continue }
                retries.append(App(bundleID: BundleID(String(rest)), rows: Int(first), bytes: bytes))
            case "waiting": waiting.append(Waiting(endpoint: Endpoint(text: String(rest)), rows: Int(first)))
            case "held":
                let cause = HoldCause(rawValue: word()) ?? .unknownAnswer
                held.append((BundleID(String(rest)), cause, Int(first), [], nil))
            case "since":
                let oldest = Timestamp(milliseconds: first)
                if !held.isEmpty {
                    held[held.count - 1].oldest = oldest
                } else if let last = waiting.popLast() {
                    waiting.append(Waiting(endpoint: last.endpoint, rows: last.rows, oldest: oldest))
                }
            case "calls":
                guard let refused = Int(word()), let oldest = Int64(word()) else { continue }
                calls.append(
                    Calls(
                        bundleID: BundleID(String(rest)), rows: Int(first), refused: refused,
                        oldest: oldest == 0 ? nil : Timestamp(milliseconds: oldest)))
            case "detail": if !held.isEmpty { held[held.count - 1].details.append(String(rest)) }
            default: continue
            }
        }
        guard let outbox else { return nil }
        self.init(
            retries: retries, waiting: waiting,
            held: held.map { Held($0.bundleID, $0.cause, rows: $0.rows, $0.details, oldest: $0.oldest) },
            calls: calls, outboxRows: outbox.rows, outboxAge: outbox.age,
            later: outbox.later)
    }
}
