import Testing

@testable import AppStore

@Suite("What an answer says of the key")
struct ServerAPIKeyCheckTests {
    private typealias Script = LookupScript

    @Test("Apple's own word that nobody has the transaction proves the key")
    func accepted() {
        #expect(ServerAPIKeyCheck(Script.notFound) == .accepted)
        #expect(ServerAPIKeyCheck(Script.error(4_000_006)) == .accepted)
    }

    @Test("401 refuses it")
    func refused() {
        #expect(ServerAPIKeyCheck(Script.unauthenticated) == .refused)
    }

    @Test("nothing else proves it, whatever the status: a proxy's page, or an app that Apple does not know")
    func other() {
        #expect(ServerAPIKeyCheck(Script.reply(404, "<html>")) == .other(httpStatus: 404, code: nil))
        #expect(ServerAPIKeyCheck(Script.reply(400, "")) == .other(httpStatus: 400, code: nil))
        #expect(ServerAPIKeyCheck(Script.reply(200, "<html>")) == .other(httpStatus: 200, code: nil))
        #expect(ServerAPIKeyCheck(Script.error(4_040_003)) == .other(httpStatus: 404, code: 4_040_003))
        #expect(ServerAPIKeyCheck(Script.error(4_000_002)) == .other(httpStatus: 400, code: 4_000_002))
        #expect(ServerAPIKeyCheck(.failed(.tls)) == .failed(.tls))
    }
}
