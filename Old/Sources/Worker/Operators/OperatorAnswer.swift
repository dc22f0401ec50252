import Foundation
import Ledger

/// What an operator's question is answered with.
enum OperatorAnswer: Hashable, Sendable {
    /// Goes to standard output as it is; its last character is a line break.
    case found(String)
    /// Nothing there: one line for standard error, and exit code 1.
    case notFound(String)
}

/// How an answer looks.
enum AnswerFormat: Hashable, Sendable {
    /// For people; lines are cut to the width, nil leaves them whole.
    case text(width: Int?)
    /// One JSON object, members sorted by name.
    case json

    /// - Parameter json: encoded if JSON is wanted; has no floating-point member, so that encoding cannot fail.
    func render(json: some Encodable, text: (_ width: Int?) -> String) -> String {
        switch self {
        case .text(let width): return text(width)
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            guard let encoded = try? encoder.encode(json) else { return "{}\n" }
            return String(decoding: encoded, as: UTF8.self) + "\n"
        }
    }
}

/// Which part of a long answer is wanted, newest first.
struct Page: Hashable, Sendable {
    static let maxLimit = 1000
    static let standardLimit = 50

    /// Continue after the row with this number; nil from the newest on.
    var before: Int64?
    /// 1 ... ``maxLimit``.
    var limit = standardLimit

    /// The number to continue with; nil if these rows are the last.
    func next(after sequences: [Int64]) -> Int64? {
        sequences.count < limit ? nil : sequences.last
    }
}

extension LedgerError {
    /// How a command ends that meets it: a wrong path is the configuration's fault, anything else is not.
    var exitStatus: ExitStatus {
        if case .unusable = self { .configuration } else { .failed }
    }
}
