import CLibcurl
import Glibc
import Testing

@testable import HTTPClient

/// Settings that the environment must not change. Each test has a process of its own: its environment belongs to all
/// threads, and its memory is measured.
@Suite(.timeLimit(.minutes(5)))
struct CurlOptionsTests {
    @Test("A proxy in the environment is not used")
    func environment() async {
        await #expect(processExitsWith: .success) {
            // Nobody listens on port 1, so that a request through the proxy would fail.
            for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
                setenv(name, "http://127.0.0.1:1", 1)
            }
            for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) }
            try Setup.run { setup in
                let response = try setup.get()
                try #require(response.status == 200)
                try #require(setup.server.connections.count == 1)
            }
        }
    }

    @Test("A configured proxy is used, whatever the environment makes an exception of")
    func configured() async {
        await #expect(processExitsWith: .success) {
            for name in ["no_proxy", "NO_PROXY"] { setenv(name, "*", 1) }
            try Setup.run { setup in
                let endpoint = try setup.endpoint(HTTPProxy(url: "http://127.0.0.1:1"))
                let answer = setup.client.result(try HTTPRequest(.get, endpoint))
                guard case .failure(let failure) = answer, failure.kind == .connectFailed else { throw answer.failure }
            }
        }
    }

    @Test("A compressed body of 100 MB takes no more memory than the limit allows")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let bomb = GzipBomb.zeros(pieces: 400_000)
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
            try Setup.run(script: { $0.number == 1 ? [.send(.ok("fine"))] : [.send(head), .sendBytes(bomb)] }) {
                setup in
                _ = try setup.get()
                let before = peakKilobytes()
                let answer = setup.client.result(try setup.request(acceptsGzip: true))
                guard case .failure(.bodyTooLarge) = answer else { throw answer.failure }
                try #require(peakKilobytes() - before < 32 << 10)
            }
        }
    }
}

/// Options that a connection shows.
struct ConnectionOptionsTests {
    private struct Seen {
        let easy: UnsafeMutableRawPointer
        var mode = 0
    }

    /// libcurl 7.88 does it by itself, so only with a later one this can fail (scripts/debian13-test.sh).
    @Test("A connection gives OpenSSL's buffers back while nothing is in them")
    func buffers() throws {
        let server = try ScriptedServer(.tls(ServerTLS.shared.get())) { _ in [.send(.ok("fine"))] }
        defer { server.close() }
        let easy = try #require(curl_easy_init())
        defer { curl_easy_cleanup(easy) }
        let options = CurlOptions(easy: easy)
        try options.apply(TestClient.configuration())
        try options.set(CURLOPT_URL, server.url)
        try options.set(CURLOPT_NOBODY, 1)
        var seen = Seen(easy: easy)
        try withUnsafeMutablePointer(to: &seen) { pointer in
            try options.set(
                prerequest: { context, _, _, _, _ in
                    let seen = context?.assumingMemoryBound(to: Seen.self)
                    seen?.pointee.mode = SSL_ctrl(grantor_easy_tls(seen?.pointee.easy), SSL_CTRL_MODE, 0, nil)
                    return CURL_PREREQFUNC_OK
                }, pointer)
            #expect(curl_easy_perform(easy) == CURLE_OK)
        }
        #expect(seen.mode & Int(SSL_MODE_RELEASE_BUFFERS) != 0)
    }
}

extension Result where Success == HTTPResponse, Failure == HTTPFailure {
    /// Why a test ends that expected another answer.
    fileprivate var failure: any Error {
        switch self {
        case .success(let response): Setup.Unexpected(response: response)
        case .failure(let failure): failure
        }
    }
}

/// The most memory that this process had resident so far.
private func peakKilobytes() -> Int {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    return usage.ru_maxrss
}
