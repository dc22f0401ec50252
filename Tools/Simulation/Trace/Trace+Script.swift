import Contract
import Processing

/// The head of a trace: the draws of the seed.
extension Trace {
    static func script(of world: World) -> [TraceLine] {
        var lines: [TraceLine] = []
        let usual = Mirror(reflecting: SwarmOptions()).children
        for (drawn, usual) in zip(Mirror(reflecting: world.options).children, usual) {
            guard "\(drawn.value)" != "\(usual.value)", let name = drawn.label else { continue }
            lines.append(TraceLine(.outside, "option", .nobody, "\(name) \(drawn.value)", at: 0))
        }
        let slow = world.apple.slowSpans.map { ($0, "takes seconds for each reply until \($0.end.seconds)") }
        for (outage, text) in world.apple.outages.map({ ($0, $0.text) }) + slow {
            let endpoint = Endpoint(outage.endpoint, outage.environment)
            lines.append(TraceLine(.outside, "outage", .endpoint(endpoint), "\(endpoint) \(text)", at: outage.begin))
        }
        for outage in world.ledgerOutages {
            lines.append(
                TraceLine(
                    .outside, "outage", .fleet, "the ledger is away until \(outage.end.seconds)", at: outage.begin))
        }
        for outage in world.topicOutages {
            let text = "\(outage.topic.rawValue) takes nothing until \(outage.end.seconds)"
            lines.append(TraceLine(.outside, "outage", .fleet, text, at: outage.begin))
        }
        for record in world.script.records {
            let about = TraceLine.About.submission(TraceSubject(id: record.submissionID))
            lines.append(TraceLine(.outside, "script", about, record.content.text, at: record.producedAt))
            guard case .claim(let claim) = record.content, let spell = world.apple.spells[claim.number] else {
                continue
            }
            lines.append(TraceLine(.outside, "spell", about, "\(spell.text) until \(spell.end.seconds)", at: 0))
        }
        return lines
    }
}

extension SimulatedApple.Outage {
    fileprivate var text: String {
        switch limit {
        case nil where failing < 1000: "fails \(failing) of a thousand calls until \(end.seconds)"
        case nil: "is \(isSilent ? "silent" : "away") until \(end.seconds)"
        case .named(let wait): "asks for no calls for \(wait.seconds) s each time, until \(end.seconds)"
        case .unnamed: "asks for fewer calls until \(end.seconds)"
        }
    }
}

extension ScriptedRecord.Content {
    fileprivate var text: String {
        switch self {
        case .unreadable: return "an unreadable record"
        case .malformed: return "a malformed submission"
        case .claim(let claim):
            let bought = claim.purchases.map { "\($0.purchase.transactionID) \($0.purchase.productID)" }
            return "\(claim.evidence.kind) of \(claim.claimant.userID) in \(claim.claimant.bundleID), "
                + "\(claim.truth.text): \(bought.joined(separator: ", "))"
        }
    }
}

extension Evidence {
    fileprivate var kind: String {
        switch self {
        case .receipt: "receipt"
        case .signedTransaction: "signedTransaction"
        case .transactionID: "transactionId"
        }
    }
}

extension ScriptedClaim.Truth {
    fileprivate var text: String {
        switch self {
        case .genuine: "genuine"
        case .forged: "forged"
        case .changing: "genuine for some, and not for others"
        case .late(let moment): "known to Apple from \(moment.seconds) on"
        case .never: "never known to Apple"
        case .held(let moment): "held until \(moment.seconds)"
        case .ahead(let moment): "signed ahead of the clocks, which are there at \(moment.seconds)"
        case .growing(let moment): "without its newest purchase until \(moment.seconds)"
        }
    }
}
