import HTTPClient
import Testing

/// The way through a proxy: the scripted server is the proxy and, behind the tunnel, the service.
@Suite(.timeLimit(.minutes(5)))
struct HTTPProxyTests {
    private static let tunnel = "HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n"

    private func run(
        tunnel: String = Self.tunnel, credentials: String = "", _ body: (Setup, HTTPRequest) throws -> Void
    ) throws {
        let opening = ScriptedServer.Opening.plain(try ServerTLS.shared.get())
        try Setup.run(
            opening,
            script: { request in
                guard request.head.hasPrefix("CONNECT ") else { return [.send(.ok("\(request.path)"))] }
                return tunnel.isEmpty ? [.finish] : [.send(tunnel), .startTLS]
            }
        ) { setup in
            let proxy = try HTTPProxy(url: "http://\(credentials)127.0.0.1:\(setup.server.port)")
            // A port where nobody listens: without the proxy there is no connection.
            let endpoint = try HTTPEndpoint(baseURL: "https://localhost:1", proxy: proxy)
            let headers = [HTTPHeader(name: "Authorization", value: "Bearer token")]
            try body(setup, HTTPRequest(.get, endpoint, path: "/secret", headers: headers))
        }
    }

    @Test("Calls go through a tunnel, of which the proxy sees the host alone, and keep it")
    func throughTunnel() throws {
        try run { setup, request in
            for _ in 0..<3 {
                let response = try setup.client.result(request).get()
                #expect(response.body == Array("/secret".utf8))
                #expect(response.header("x-proxy") == nil)
            }
            let received = setup.server.log.all
            #expect(received.map { $0.path } == ["localhost:1", "/secret", "/secret", "/secret"])
            #expect(!received[0].head.contains("Bearer"))
            #expect(received[1].head.contains("Authorization: Bearer token\r\n"))
            #expect(setup.server.connections.count == 1)
        }
    }

    @Test("The proxy's own credentials go to it and no further")
    func credentials() throws {
        try run(credentials: "user:password@") { setup, request in
            let response = try setup.client.result(request).get()
            #expect(response.status == 200)
            let received = setup.server.log.all
            #expect(received[0].head.contains("Proxy-Authorization: Basic dXNlcjpwYXNzd29yZA==\r\n"))
            #expect(!received[1].head.contains("Proxy-Authorization"))
        }
    }

    @Test("A proxy that refuses is told from the service", arguments: [403, 407, 502])
    func refuses(status: Int) throws {
        try run(tunnel: "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n") { setup, request in
            let answer = setup.client.result(request)
            guard case .failure(let failure) = answer, "\(failure)".contains("connect, status \(status):") else {
                Issue.record("\(answer)")
                return
            }
            #expect(setup.server.log.all.count == 1)
        }
    }

    @Test("A proxy that breaks off is told from the service")
    func breaksOff() throws {
        try run(tunnel: "") { setup, request in
            let answer = setup.client.result(request)
            guard case .failure(let failure) = answer, failure.kind == .proxyFailed else {
                Issue.record("\(answer)")
                return
            }
        }
    }

    @Test("A proxy that nobody listens at")
    func noListener() throws {
        try Setup.run { setup in
            let endpoint = try setup.endpoint(HTTPProxy(url: "http://127.0.0.1:1"))
            let answer = setup.client.result(try HTTPRequest(.get, endpoint))
            guard case .failure(let failure) = answer, failure.kind == .connectFailed else {
                Issue.record("\(answer)")
                return
            }
        }
    }

    @Test("What shows a proxy or an endpoint shows no secret")
    func secrets() throws {
        let proxy = try HTTPProxy(url: "http://user:password@proxy.example:3128")
        let endpoint = try HTTPEndpoint(baseURL: "https://game.example:8443/hook/secret", proxy: proxy)
        #expect("\(proxy)" == "http://proxy.example:3128")
        #expect("\(endpoint)" == "https://game.example:8443")
        #expect(String(reflecting: endpoint) == "https://game.example:8443")
        #expect("\(HTTPHeader(name: "Authorization", value: "Bearer secret"))" == "Authorization")
        #expect("\(HTTPResponse(status: 200, body: Array("secret".utf8)))" == "status 200, 6 bytes")
    }

    @Test(
        "A proxy is an HTTP URL with a port",
        arguments: ["", "proxy:3128", "https://proxy:3128", "socks5://proxy:1080", "http://proxy", "http://"])
    func urls(url: String) {
        #expect(throws: HTTPClientError.invalidURL) { try HTTPProxy(url: url) }
    }
}
