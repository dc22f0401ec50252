import Contract
import Processing

/// Writes down what happens, for people who look into one seed.
public final class Trace {
    private let write: (String) -> Void

    /// - Parameter write: Takes each line.
    public init(_ write: @escaping (String) -> Void) { self.write = write }

    private func line(_ world: World, _ text: String) {
        write("\(world.milliseconds) ms  \(text)")
    }

    /// The truth about every record.
    func note(_ world: World) {
        write("\(world.options)")
        for record in world.script.records {
            var text = "\(record.content)"
            if case .claim(let claim) = record.content {
                let who = claim.claimant
                let bought = claim.purchases.map { "\($0.grantKey) \($0.purchase.transactionID)" }
                text =
                    "claim \(claim.number) \(who.bundleID) \(who.submissionID) \(who.userID) order \(who.orderID?.rawValue ?? "-") "
                    + "\(claim.evidence) of \(claim.claim.transactionID?.rawValue ?? "-") \(claim.truth) \(bought)"
            }
            line(world, "record \(record.number) on \(record.partition) at \(record.producedAt): \(text)")
        }
    }

    func note(_ world: World, _ life: Life, _ input: Input) { line(world, "\(life.name) < \(Self.brief("\(input)"))") }

    /// The states of what a worker has in flight, and why it reads nothing.
    func note(_ world: World, _ life: Life) {
        let status = life.core.status
        let states = status.submissions.filter { $0.value > 0 }.sorted { $0.key < $1.key }
            .map { "\($0.key) \($0.value)" }
        let stop = status.readingStop.map { ", reads nothing: \($0.rawValue)" } ?? ""
        line(world, "\(life.name) has \(states.joined(separator: ", "))\(stop)")
    }

    func note(_ world: World, _ fault: Fault) { line(world, "fault: \(fault)") }

    func note(_ world: World, _ life: Life, _ actions: borrowing Actions) {
        func say(_ what: String, _ all: [some Any]) {
            for one in all { line(world, "\(life.name) > \(what) \(Self.brief("\(one)"))") }
        }
        say("assign", actions.assign)
        say("check", actions.checks)
        say("ask", actions.attempts)
        say("call", actions.calls)
        say("write", actions.writes)
        say("request", actions.requests)
        say("publish", actions.publishes)
        say("commit", actions.commit)
        say("alert", actions.alerts)
        if let stop = actions.stop { line(world, "\(life.name) > stop \(stop)") }
    }

    private static func brief(_ text: String) -> String {
        text.count > 600 ? String(text.prefix(600)) + "…" : text
    }
}
