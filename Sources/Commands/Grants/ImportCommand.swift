import CommandParser
import Configuration
import Contract
import Ledger
import Scheduling

/// `grantor grants import`.
enum ImportCommand {
    private static let file = Parameter.argument("file", .text, help: "The file: one JSON object a line.")
    private static let fromLine = Parameter.option(
        "from-line", .integer(1...Int.max), default: 1, help: "Leave the lines before it out, which are imported.")
    private static let perSecond = MassChange.perSecond(50_000, "lines")

    static let command = Command<CommandContext>(
        "import", "Takes over what another system has granted, so that nothing is granted again.",
        discussion: """
            Each line says bundleId, environment, transactionId, productId, type, userId, purchasedAt and grantedAt, as \
            docs/adoption.md describes. The whole file is checked first: with a fault in any line nothing is imported. A \
            trial compares each line with the ledger and with the lines before it: of two lines about one purchase the \
            first counts. A purchase that its user has already is counted and left as it is, so a call that was stopped \
            may begin again. Where the connection to the ledger was lost, it begins with the first line: the ledger may have \
            lost what it had. One that another user has is named, and left as it is. No event tells imported purchases. \
            A user who claims one again gets a copy of its event, without items.
            """,
        MassChange.options + [fromLine, perSecond, file], run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let source = Source(try arguments[file], from: try arguments[fromLine], now: context.now())
        let note = try MassChange.apply.note(arguments, context)
        let session = try arguments.session(context)
        let perSecond = try arguments[perSecond]
        var found = ImportFindings()
        var lines = 0
        // The line to go on from, once some are through.
        var next: Int?
        var hasBegun = false
        var failure: CommandFailure?
        do throws(CommandFailure) {
            var progress = Progress(context)
            defer { progress.end() }
            // The whole file is looked at before its first row is written.
            lines = try check(source, isTrial: note == nil, session, &found, &progress)
            if let note, found.faults == 0 {
                hasBegun = true
                let named = note.about("\(lines.of("line", "lines")) of \(source.name)")
                try session { ledger throws(LedgerError) in try ledger.note(.importGrants, named) }
                var pace = Pace(perSecond: perSecond, from: context.clock())
                var read = 0
                try source.each { (batch, part) throws(CommandFailure) in
                    context.pause(pace.pause(before: batch.count, now: context.clock()))
                    var again = ImportFindings()
                    let grants = again.sound(batch)
                    read += batch.count
                    guard again.faults == 0, read <= lines else { throw source.hasChanged }
                    found.add(grants, try results(grants, isTrial: false, session))
                    if let last = batch.last { next = last.line + 1 }
                    let place = next.map { ", --from-line \($0)" } ?? ""
                    progress.show(part, "\(found.new) imported, \(found.present) there already\(place)")
                }
                guard read == lines else { throw source.hasChanged }
            }
        } catch {
            failure = error
            if hasBegun, let loss = session.loss {
                // No line is a place to go on from: those before it may be lost, also those of an earlier call.
                next = nil
                failure = CommandFailure(
                    error.status,
                    "the connection to the ledger was lost, and lines that were imported may be lost with it: import the "
                        + "whole file again, which leaves those that are there: \(loss)")
            } else if next == nil {
                throw error
            }
        }
        let isApplied = note != nil && found.faults == 0
        let isCut = failure != nil
        let rest = isCut ? next : nil
        try context.output(
            arguments.format(context).render(
                json: found.json(isApplied: isApplied, lines: lines, isCut: isCut, next: rest)
            ) { _ in
                found.text(isApplied: isApplied, isTrial: note == nil, lines: lines, isCut: isCut, next: rest)
            })
        if let failure { throw failure }
        guard found.isClean else { throw CommandFailure(.failed, found.failure(isApplied: isApplied)) }
    }

    /// Looks at the whole file. A trial asks the ledger about it, too.
    /// - Returns: How many lines it has.
    private static func check(
        _ source: Source, isTrial: Bool, _ session: LedgerSession, _ found: inout ImportFindings,
        _ progress: inout Progress
    ) throws(CommandFailure) -> Int {
        var lines = 0
        var shared = try SharedNames(size: isTrial ? source.size() : 0)
        try source.each { (batch, part) throws(CommandFailure) in
            lines += batch.count
            let grants = found.sound(batch)
            if isTrial {
                found.add(grants, try results(grants, isTrial: true, session))
                for grant in grants { shared.add(grant) }
            }
            progress.show(part, "\(lines.of("line", "lines")) checked")
        }
        if isTrial, !shared.isEmpty { try compare(source, shared, session, &found, &progress) }
        guard lines > 0 else { throw CommandFailure(.failed, "\(source.name) has no lines from there on") }
        return lines
    }

    /// Looks again at lines that may share a purchase with a line before them.
    private static func compare(
        _ source: Source, _ shared: SharedNames, _ session: LedgerSession, _ found: inout ImportFindings,
        _ progress: inout Progress
    ) throws(CommandFailure) {
        var earlier = EarlierLines()
        found.isCompared = !shared.isFull
        try source.each { (batch, part) throws(CommandFailure) in
            var again = ImportFindings()
            let suspects = again.sound(batch).filter(shared.contains)
            let isNew = try results(suspects, isTrial: true, session).map { $0 == .new }
            let grants = zip(suspects, isNew).filter(\.1).map(\.0)
            for (grant, (result, line)) in zip(grants, earlier.results(of: grants)) {
                if let line { found.correct(grant, to: result, by: line) }
            }
            progress.show(part, "lines compared with each other")
        }
    }

    private static func results(
        _ grants: [Grant], isTrial: Bool, _ session: LedgerSession
    ) throws(CommandFailure) -> [ImportResult] {
        guard !grants.isEmpty else { return [] }
        return try session(changes: !isTrial) { ledger throws(LedgerError) in
            try ledger.add(imported: grants, isTrial: isTrial)
        }
    }
}

/// A file of grants, read in batches.
private struct Source {
    struct Line {
        let line: Int
        let grant: Result<Grant, ImportedLine.Faulty>
    }

    /// The file's own name, without its folder.
    let name: String
    private let path: String
    private let first: Int
    private let now: Timestamp

    init(_ path: String, from first: Int, now: Timestamp) {
        (self.path, self.first, self.now) = (path, first, now)
        name = PrintableText.singleLine(String(path.split(separator: "/").last ?? ""))
    }

    /// Somebody writes to it: nobody has checked the lines that it has by now.
    var hasChanged: CommandFailure { CommandFailure(.failed, "\(name) has changed since its lines were checked") }

    func size() throws(CommandFailure) -> Int { try LineReader(path).size }

    /// - Parameter body: Gets lines, at most as many as the ledger takes at once, and how much of the file is behind
    ///   them.
    func each(_ body: ([Line], Double) throws(CommandFailure) -> Void) throws(CommandFailure) {
        let reader = try LineReader(path)
        var batch: [Line] = []
        while let line = try reader.next() {
            guard line.number >= first else { continue }
            do throws(ImportedLine.Faulty) {
                batch.append(Line(line: line.number, grant: .success(try ImportedLine.grant(line, of: name, now: now))))
            } catch {
                batch.append(Line(line: line.number, grant: .failure(error)))
            }
            if batch.count == GrantImport.most {
                try body(batch, Double(reader.read) / Double(max(1, reader.size)))
                batch.removeAll(keepingCapacity: true)
            }
        }
        if !batch.isEmpty { try body(batch, 1) }
    }
}

/// An import's findings in a file and in the ledger. Lists have a bound, numbers have none.
private struct ImportFindings {
    static let mostNamed = 20

    private(set) var faults = 0
    private(set) var new = 0
    private(set) var present = 0
    /// Of these, the ones under another transaction.
    private var underAnother = 0
    private var taken = 0
    private var later = 0
    /// Paid periods without a line item.
    private var unnamedPeriods = 0
    private var named: [(line: Int64, words: String)] = []
    /// Whether all lines were compared with each other, or none had to be.
    var isCompared = true

    var isClean: Bool { faults == 0 && taken == 0 && later == 0 && isCompared }

    /// All named findings, in the order of their lines.
    private var inOrder: [(line: Int64, words: String)] { named.sorted { $0.line < $1.line } }

    private mutating func name(_ line: Int64, _ words: String) {
        if named.count < Self.mostNamed { named.append((line, words)) }
    }

    /// The grants of lines without a fault.
    mutating func sound(_ lines: [Source.Line]) -> [Grant] {
        var grants: [Grant] = []
        for line in lines {
            switch line.grant {
            case .success(let grant):
                grants.append(grant)
                if grant.productType == .autoRenewable, grant.webOrderLineItemID == nil { unnamedPeriods += 1 }
            case .failure(let faulty):
                faults += 1
                name(Int64(line.line), faulty.faults.joined(separator: "; "))
            }
        }
        return grants
    }

    mutating func add(_ grants: [Grant], _ results: [ImportResult]) {
        for (grant, result) in zip(grants, results) {
            switch result {
            case .new: new += 1
            case .present: present += 1
            case .presentUnderAnother:
                present += 1
                underAnother += 1
            case .taken:
                taken += 1
                name(grant.origin.offset, "the purchase is another user's, or another app's, in the ledger")
            case .later:
                later += 1
                name(grant.origin.offset, "a later version of grantor has written the purchase's row")
            }
        }
    }

    /// A line that the ledger itself would take, but whose purchase a line before it has.
    mutating func correct(_ grant: Grant, to result: ImportResult, by line: Int64) {
        new -= 1
        guard result == .taken else {
            present += 1
            if result == .presentUnderAnother { underAnother += 1 }
            return
        }
        taken += 1
        name(grant.origin.offset, "the purchase is another user's, or another app's, by line \(line)")
    }

    /// - Parameters:
    ///   - isCut: Whether an import has not come to its end.
    ///   - next: The line to go on from then; nil if there is none.
    func text(isApplied: Bool, isTrial: Bool, lines: Int, isCut: Bool, next: Int?) -> String {
        var text = inOrder.map { "line \($0.line): \(PrintableText.singleLine($0.words))\n" }.joined()
        let more = faults + taken + later - named.count
        if more > 0 { text += "and \(more) more lines\n" }
        text += "\(lines.of("line", "lines")): "
        if isApplied {
            text += "\(new) imported, \(presentInWords), \(taken) of others"
            if isCut { text += "; the rest is not" }
            text += next.map { ": go on with --from-line \($0)\n" } ?? "\n"
        } else if isTrial {
            text += "\(faults) faulty, \(new) new, \(presentInWords), \(taken) of others"
            text += faults == 0 ? "; --apply imports them\n" : "\n"
        } else {
            text += "\(faults) faulty\n"
        }
        if unnamedPeriods > 0 {
            text +=
                "\(unnamedPeriods.of("period has", "periods have")) no webOrderLineItemId: a restore of one, under "
                + "another transaction, is not known as the same.\n"
        }
        return text
    }

    private var presentInWords: String {
        "\(present) there already" + (underAnother == 0 ? "" : " (\(underAnother) under another transaction)")
    }

    func failure(isApplied: Bool) -> String {
        if faults > 0 { return "\(faults.of("line is", "lines are")) faulty; nothing was imported" }
        guard isCompared else {
            return "too many lines seem to share a purchase: not all of them were compared with each other"
        }
        let left = (taken + later).of("purchase", "purchases")
        return isApplied ? "\(left) stayed as the ledger has them" : "\(left) would stay as the ledger has them"
    }

    func json(isApplied: Bool, lines: Int, isCut: Bool, next: Int?) -> JSONOutput {
        .object([
            "applied": .truth(isApplied), "lines": .count(lines), "faulty": .count(faults), "new": .count(new),
            "present": .count(present), "presentUnderAnother": .count(underAnother), "taken": .count(taken),
            "laterRows": later == 0 ? .absent : .count(later),
            "periodsWithoutLineItem": .count(unnamedPeriods),
            "isCompared": isCompared ? .absent : .truth(false), "isComplete": isCut ? .truth(false) : .absent,
            "nextLine": next.map { .count($0) } ?? .absent,
            "named": .list(inOrder.map { .object(["line": .number($0.line), "detail": .text($0.words)]) }),
        ])
    }
}
