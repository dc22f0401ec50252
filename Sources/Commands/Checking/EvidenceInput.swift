import CommandParser
import Configuration
import Contract
import FoundationEssentials
import Glibc

/// The input of `grantor verify`: a submission as it would stand on the input topic, or evidence by itself.
enum EvidenceInput: Hashable, Sendable {
    /// A member of submissions that holds evidence.
    enum Member: Hashable, Sendable {
        case receipt, signedTransaction, transactionID
    }

    /// JSON: a record of the input topic, to the byte.
    case record([UInt8])
    /// Evidence by itself, of the kind that it looks like.
    case evidence(Member, String)

    /// Largest file, in bytes: that of a record that is looked into.
    static let maxFileBytes = SubmissionReading.maxValueBytes

    /// Tells what a file holds. Evidence is taken out of what people's tools put around it. That may be a byte order
    /// mark, white space, quotes, the body of a verifyReceipt call, or a reply of the App Store Server API.
    init(_ bytes: [UInt8]) {
        // A receipt as it lies on a device: a sequence whose length needs more than a byte, so it is no digit of an id.
        if bytes.count > 1, bytes[0] == 0x30, bytes[1] >= 0x80 {
            self = .evidence(.receipt, Data(bytes).base64EncodedString())
            return
        }
        let word = Self.trimmed(Self.text(of: bytes))
        if word.first == "{" {
            self = Self.wrapped(bytes) ?? .record(bytes)
        } else {
            self = Self.evidence(in: Self.unquoted(word))
        }
    }

    /// Windows writes UTF-16 where a command's output goes to a file. A submission in it stays as it is: no worker
    /// reads it.
    private static func text(of bytes: [UInt8]) -> String {
        let pairs = stride(from: 0, to: bytes.count - bytes.count % 2, by: 2)
        if bytes.starts(with: [0xFF, 0xFE]) {
            return String(decoding: pairs.map { UInt16(bytes[$0 + 1]) << 8 | UInt16(bytes[$0]) }, as: UTF16.self)
        }
        if bytes.starts(with: [0xFE, 0xFF]) {
            return String(decoding: pairs.map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }, as: UTF16.self)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func trimmed(_ text: String) -> String {
        func isAround(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{FEFF}" || scalar.properties.isWhitespace }
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !isAround($0) }),
            let last = scalars.lastIndex(where: { !isAround($0) })
        else { return "" }
        return String(scalars[first...last])
    }

    /// Evidence in a JSON object that is no submission; nil for every other.
    private static func wrapped(_ bytes: [UInt8]) -> EvidenceInput? {
        guard let members = try? StrictJSON(bytes).members, members["submissionId"] == nil else { return nil }
        for name in ["receipt-data", "latest_receipt"] {
            if case .string(let receipt) = members[name] { return .evidence(.receipt, receipt) }
        }
        if case .string(let signed) = members["signedTransactionInfo"] { return .evidence(.signedTransaction, signed) }
        return nil
    }

    /// A text in quotes without them. In double ones it may be a string of JSON, with escapes.
    private static func unquoted(_ word: String) -> String {
        guard word.utf8.count > 1, let quote = word.first, quote == word.last, quote == "\"" || quote == "'" else {
            return word
        }
        if quote == "\"", let object = try? StrictJSON(Array("{\"text\":\(word)}".utf8)),
            case .string(let text) = object.members["text"]
        {
            return trimmed(text)
        }
        return trimmed(String(word.dropFirst().dropLast()))
    }

    /// A signed transaction has two dots, a transaction id is digits alone, and everything else is a receipt.
    private static func evidence(in word: String) -> EvidenceInput {
        if word.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 { return .evidence(.signedTransaction, word) }
        return .evidence(DigitText.isDigits(word, atMost: 64) ? .transactionID : .receipt, word)
    }

    /// The bytes of a file, or of standard input for `-`.
    /// - Throws: for a file that cannot be read, and for more than ``maxFileBytes``.
    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        // A person may have given the evidence itself instead of a file's name; it is longer than names are.
        let name = path == "-" ? "standard input" : path.utf8.count > 200 ? "the file" : PrintableText.singleLine(path)
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.failed, "\(name) cannot be read; - reads standard input")
        }
        defer { close(descriptor) }
        guard let bytes = WholeFile.bytes(of: descriptor, upTo: maxFileBytes + 1) else {
            throw CommandFailure(.failed, "\(name) cannot be read")
        }
        guard bytes.count <= maxFileBytes else {
            throw CommandFailure(.failed, "\(name) is larger than a submission may be")
        }
        return bytes
    }
}

extension EvidenceInput.Member {
    /// The submission of a record that holds one piece of evidence and nothing else.
    func record(_ text: String, of bundleID: BundleID) -> [UInt8] {
        var object = JSONObjectWriter(expecting: text.utf8.count + 256)
        object.member("bundleId", bundleID.rawValue)
        switch self {
        case .receipt: object.member("receipt", text)
        case .signedTransaction: object.member("signedTransaction", text)
        case .transactionID: object.member("transactionId", text)
        }
        object.member("submissionId", "verify")
        object.member("userId", "verify")
        return object.finished()
    }
}
