import Contract
import HTTPServer
import Ledger

/// A question to the read-only API, as a request asks it.
enum APIRequest: Hashable, Sendable {
    /// `GET /v1/submissions/{app}/{id}`
    case submission(SubmissionKey)
    /// `GET /v1/find?word=…&limit=…`
    case find(word: String, limit: Int)

    /// Hits of a look that names no limit, and most hits of one that does.
    static let usualHits = 50
    static let mostHits = 200

    /// - Throws: ``APIRefusal`` for every request that asks for something else.
    init(_ head: RequestHead) throws(APIRefusal) {
        let segments = head.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard let first = segments.first, first == "v1" else { throw .notFound }
        switch Array(segments.dropFirst()) {
        case let path where path.count == 3 && path[0] == "submissions":
            guard head.method == "GET" || head.method == "HEAD" else { throw .methodNotAllowed }
            guard head.query == nil else { throw .badRequest("this path takes no query") }
            self = .submission(
                SubmissionKey(
                    bundleID: BundleID(try Self.id(path[1])), submissionID: SubmissionID(try Self.id(path[2]))))
        case ["find"]:
            guard head.method == "GET" || head.method == "HEAD" else { throw .methodNotAllowed }
            self = try Self.find(head.query ?? "")
        default: throw .notFound
        }
    }

    private static func find(_ query: String) throws(APIRefusal) -> APIRequest {
        var word: String?
        var limit: Int?
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw .badRequest("a parameter of the query has no value") }
            switch parts[0] {
            case "word":
                guard word == nil else { throw .badRequest("word is given twice") }
                // As forms are sent: a plus sign is a space there.
                word = try id(parts[1].replacing("+", with: "%20")[...])
            case "limit":
                let number = Int(parts[1])
                guard limit == nil, let number, (1...mostHits).contains(number),
                    parts[1].utf8.first != UInt8(ascii: "+")
                else { throw .badRequest("limit must be a whole number from 1 to \(mostHits), and is given once") }
                limit = number
            default: throw .badRequest("the query takes word and limit, and nothing else")
            }
        }
        guard let word else { throw .badRequest("word is missing") }
        return .find(word: word, limit: limit ?? usualHits)
    }

    /// An id out of a URL: 1 to 512 bytes of UTF-8 once it is decoded, without control characters.
    private static func id(_ text: Substring) throws(APIRefusal) -> String {
        guard let bytes = PercentEncoding.bytes(of: text), let id = String(validating: bytes, as: UTF8.self) else {
            throw .badRequest("an id is not percent-encoded UTF-8")
        }
        guard (1...Search.mostBytes).contains(bytes.count),
            id.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw .badRequest("an id has 1 to \(Search.mostBytes) bytes and no control characters") }
        return id
    }
}
