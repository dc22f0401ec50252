import Configuration
import Contract
import Foundation
import HTTPServer
import Ledger
import Metrics
import Testing

@testable import Commands

@Suite("Answers of the read-only API")
struct APIHandlerTests {
    private static let granted = "/v1/submissions/com.example.game/granted"

    @Test("The answers are those of the commands' --json, but for what operators did and the topics have")
    func sameWords() throws {
        let (stage, grantor) = (try APIStage(), try SampleRun())
        for id in ["granted", "retrying"] {
            let shown = grantor("submissions show \(id) --app com.example.game --json").output
            var answer = try Self.members(of: shown)
            var submissions = try #require(answer["submissions"] as? [[String: Any]])
            #expect(!submissions.isEmpty && submissions.allSatisfy { $0["actions"] != nil })
            for index in submissions.indices { submissions[index]["actions"] = nil }
            answer["submissions"] = submissions
            let reply = try Self.members(of: stage.reply("/v1/submissions/com.example.game/\(id)").body)
            #expect(try Self.text(reply) == Self.text(answer))
        }
        // The command looks on the topics as well, where it can.
        var found = try Self.members(of: grantor("find u-1 --limit 3 --json").output)
        found["notLookedAt"] = nil
        let reply = try Self.members(of: stage.reply("/v1/find?word=u-1&limit=3").body)
        #expect(try Self.text(reply) == Self.text(found))
    }

    @Test("An outcome whose event may be on its way is told as one, until workers are through with its record")
    func unpassed() throws {
        let stage = try APIStage()
        for target in [Self.granted, "/v1/find?word=1000007"] {
            stage.ledger.complete(to: 173)
            #expect(try stage.reply(target).body.contains("\"isUnpassed\" : true"))
            stage.ledger.complete(to: 174)
            let body = try stage.reply(target).body
            #expect(body.contains("\"isUnpassed\" : false") && !body.contains("\"isUnpassed\" : true"))
        }
    }

    private static func text(_ members: [String: Any]) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: members, options: .sortedKeys), as: UTF8.self)
    }

    private static func members(of text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// A worker's role needs no right to `operator_actions` so.
    @Test("Nobody asks the ledger what operators did")
    func noActions() throws {
        let stage = try APIStage()
        _ = try stage.reply("/v1/submissions/com.example.game/retrying")
        #expect(stage.ledger.askedForActions == 0)
        _ = try stage.ledger.answer("retrying", of: ["com.example.game"])
        #expect(stage.ledger.askedForActions == 1)
    }

    @Test("A word without hits is an answer, a submission that is not there is none")
    func nothing() throws {
        let stage = try APIStage()
        let found = try stage.reply("/v1/find?word=gone")
        #expect(found.status == 200 && found.body.contains("\"found\" : ["))
        let unknown = try stage.reply("/v1/submissions/com.example.game/gone")
        #expect(unknown.status == 404 && unknown.body.contains("\"word\" : \"unknown_submission\""))
        let later = try stage.reply("/v1/submissions/com.example.game/later")
        #expect(later.status == 200 && later.body.contains("\"laterRows\" : 1"))
    }

    @Test("Who has no token learns nothing, not even which paths there are", arguments: [nil, "wrong", ""])
    func unauthorized(token: String?) throws {
        let stage = try APIStage()
        for target in [Self.granted, "/v1/find?word=a", "/nowhere", "/v1/find"] {
            let reply = try stage.reply(target, token: token)
            #expect(reply.status == 401 && reply.body.contains("\"word\" : \"unauthorized\""))
            #expect(reply.fields.contains { $0.name == "www-authenticate" && $0.value == "Bearer" })
        }
        #expect(stage.ledger.questions.isEmpty && stage.openings == 0)
    }

    @Test("Every answer is JSON that no cache keeps")
    func form() throws {
        let stage = try APIStage()
        for (target, method) in [
            (Self.granted, "GET"), ("/v1/find?word=gone", "GET"), ("/nowhere", "GET"), (Self.granted, "POST"),
            ("/v1/find", "GET"),
        ] {
            let reply = try stage.reply(target, method: method)
            #expect(reply.fields.contains { $0.name == "content-type" && $0.value == "application/json" })
            #expect(reply.fields.contains { $0.name == "cache-control" && $0.value == "no-store" })
            #expect(try JSONSerialization.jsonObject(with: Data(reply.body.utf8)) is [String: Any])
        }
        #expect(try stage.reply(Self.granted, method: "POST").fields.contains { $0.name == "allow" })
    }

    @Test("A token that asks too often is told when to come again, and the ledger is not asked")
    func tooOften() throws {
        let stage = try APIStage(APITesting.token, APITesting.otherToken)
        let replies = try (0..<45).map { _ in try stage.reply("/v1/find?word=gone") }
        #expect(replies.count { $0.status == 200 } == 40)
        #expect(replies.last?.status == 429)
        #expect(replies.last?.fields.contains { $0.name == "retry-after" && $0.value == "1" } == true)
        let asked = stage.ledger.questions.count
        _ = try stage.reply("/v1/find?word=gone")
        #expect(stage.ledger.questions.count == asked)
        #expect(try stage.reply("/v1/find?word=gone", token: APITesting.otherToken).status == 200)
        stage.advance(by: .seconds(1))
        #expect(try stage.reply("/v1/find?word=gone").status == 200)
    }

    @Test("A ledger that is away is asked again after a rest, told once, and its end, too")
    func away() throws {
        let stage = try APIStage()
        stage.fail(.unavailable(detail: "down"))
        for _ in 0..<3 {
            let reply = try stage.reply(Self.granted)
            #expect(reply.status == 503 && reply.fields.contains { $0.name == "retry-after" })
            #expect(!reply.body.contains("down"))
        }
        #expect(stage.openings == 1)
        stage.advance(by: .seconds(1))
        #expect(try stage.reply(Self.granted).status == 503)
        #expect(stage.openings == 2)
        stage.fail(nil)
        stage.advance(by: .seconds(1))
        #expect(try stage.reply(Self.granted).status == 200)
        #expect(try stage.reply(Self.granted).status == 200)
        #expect(stage.openings == 3)
        #expect(stage.log.count { $0.contains("does not answer") } == 1)
        #expect(stage.log.last?.contains("answers again") == true)
    }

    @Test("A question that fails is refused alone, and told once; others are asked on the same connection")
    func failedQuestion() throws {
        let stage = try APIStage()
        #expect(try stage.reply(Self.granted).status == 200)
        stage.ledger.refuse(.unavailable(detail: "a statement took too long"))
        for _ in 0..<3 {
            let reply = try stage.reply(Self.granted)
            #expect(reply.status == 503 && !reply.body.contains("statement"))
            #expect(try stage.reply("/v1/find?word=u-1").status == 200)
        }
        #expect(stage.openings == 1)
        #expect(stage.log.count { $0.contains("does not answer a question") && $0.contains("too long") } == 1)
        stage.ledger.refuse(nil)
        stage.advance(by: .seconds(60))
        #expect(try stage.reply(Self.granted).status == 200)
        #expect(stage.log.last?.contains("questions are answered again") == true)
    }

    @Test("Questions that have come together are asked together, and each has its own answer")
    func together() throws {
        let stage = try APIStage()
        let targets = [
            "/v1/find?word=u-1&limit=3", Self.granted, "/nowhere", "/v1/find?word=gone",
            "/v1/submissions/com.example.game/gone", "/v1/submissions/com.example.game/failed",
        ]
        let alone = try targets.map { target in
            let reply = try stage.reply(target)
            return "\(reply.status) \(reply.body)"
        }
        #expect(try stage.replies(targets).map { "\($0.status) \($0.body)" } == alone)
        #expect(stage.openings == 1)
    }

    @Test("Of questions that have come together only those are refused that the ledger does not answer")
    func oneOfMany() throws {
        let stage = try APIStage()
        stage.ledger.refuse(.unavailable(detail: "a statement took too long"))
        let replies = try stage.replies(["/v1/find?word=u-1", Self.granted, "/v1/find?word=gone"])
        #expect(replies.map(\.status) == [200, 503, 200])
    }

    @Test("Where a connection is lost under questions together, each is asked anew, and the ledger is not left alone")
    func lostTogether() throws {
        let stage = try APIStage()
        stage.ledger.refuse(.disconnected(detail: "the time of the call is over"))
        let replies = try stage.replies(["/v1/find?word=u-1", "/v1/find?word=gone", Self.granted])
        #expect(replies.map(\.status) == [200, 200, 503])
        #expect(stage.openings == 2)
    }

    @Test("A ledger that is slow at each of many questions holds none of them up for long, and is asked again")
    func slowTogether() throws {
        let stage = try APIStage()
        stage.refuse(.unavailable(detail: "a statement took too long"), after: .milliseconds(1500))
        let replies = try stage.replies((0..<40).map { "/v1/submissions/com.example.game/\($0)" })
        #expect(replies.count == 40 && replies.allSatisfy { $0.status == 503 })
        #expect(stage.elapsed < .seconds(6))
        stage.advance(by: .milliseconds(1500))
        let asked = stage.ledger.questions.count
        #expect(try stage.reply(Self.granted).status == 503)
        #expect(stage.ledger.questions.count == asked + 1)
        stage.ledger.refuse(nil)
        #expect(try stage.reply(Self.granted).status == 200)
    }

    @Test("More questions than the ledger is asked together have an answer each")
    func many() throws {
        let stage = try APIStage()
        let targets = (0..<APIHandler.mostTogether * 2 + 3).map { "/v1/find?word=\($0 % 2 == 0 ? "u-1" : "gone")" }
        let replies = try stage.replies(targets)
        #expect(replies.map { $0.body.contains("\"foundAs\"") } == targets.map { $0.hasSuffix("u-1") })
    }

    @Test("A connection that is lost at a question is a ledger that is away")
    func lost() throws {
        let stage = try APIStage()
        stage.ledger.refuse(.disconnected(detail: "lost"))
        #expect(try stage.reply(Self.granted).status == 503)
        #expect(try stage.reply("/v1/find?word=u-1").status == 503)
        stage.advance(by: .seconds(1))
        #expect(try stage.reply("/v1/find?word=u-1").status == 200)
        #expect(stage.openings == 2)
    }

    @Test("Tokens are read again when their file changes: a new one may ask, one that is gone may not")
    func rotation() throws {
        let stage = try APIStage()
        #expect(try stage.reply(Self.granted).status == 200)
        try APITesting.write([APITesting.otherToken], to: stage.tokensFile.path)
        #expect(try stage.reply(Self.granted).status == 401)
        #expect(try stage.reply(Self.granted, token: APITesting.otherToken).status == 200)
        #expect(stage.log.count { $0.hasPrefix("notice: The API's tokens are read") } == 2)
    }

    @Test("A tokens file that cannot be used lets nobody in, and the line says why", arguments: ["short\n", "", nil])
    func brokenFile(content: String?) throws {
        let stage = try APIStage()
        #expect(try stage.reply(Self.granted).status == 200)
        if let content {
            try content.write(toFile: stage.tokensFile.path, atomically: true, encoding: .utf8)
        } else {
            try FileManager.default.removeItem(atPath: stage.tokensFile.path)
        }
        for _ in 0..<3 { #expect(try stage.reply(Self.granted).status == 503) }
        #expect(stage.log.count { $0.hasPrefix("error: The API answers nobody") } == 1)
        #expect(stage.registry.render().contains("grantor_api_tokens 0\n"))
        try APITesting.write([APITesting.token], to: stage.tokensFile.path)
        #expect(try stage.reply(Self.granted).status == 200)
    }

    @Test("No answer and no line has evidence or tokens in it")
    func secrets() throws {
        let stage = try APIStage()
        let bodies = try [
            stage.reply("/v1/submissions/com.example.game/retrying"), stage.reply("/v1/find?word=u-1"),
            stage.reply("/\(APITesting.token)"), stage.reply(Self.granted, token: APITesting.otherToken),
        ].map(\.body)
        for text in bodies + stage.log {
            #expect(
                !text.contains("canary") && !text.contains(APITesting.token) && !text.contains(APITesting.otherToken))
        }
    }

    @Test("How many tokens there are is known before anybody asks")
    func countOfTokens() throws {
        let stage = try APIStage(APITesting.token, APITesting.otherToken)
        #expect(stage.registry.render().contains("grantor_api_tokens 2\n"))
        #expect(stage.log.count { $0.hasPrefix("notice: The API's tokens are read") } == 1)
    }

    @Test("Requests are counted by status, and each status is there from the start")
    func metrics() throws {
        let stage = try APIStage()
        for status in APIRefusal.statuses {
            #expect(stage.registry.render().contains("grantor_api_requests_total{status=\"\(status)\"} 0\n"))
        }
        _ = try stage.reply(Self.granted)
        _ = try stage.reply("/nowhere")
        _ = try stage.reply("/nowhere", token: nil)
        let metrics = stage.registry.render()
        for status in [200, 404, 401] {
            #expect(metrics.contains("grantor_api_requests_total{status=\"\(status)\"} 1\n"))
        }
        #expect(metrics.contains("grantor_api_request_seconds_count 3\n") && metrics.contains("grantor_api_tokens 1\n"))
    }
}
