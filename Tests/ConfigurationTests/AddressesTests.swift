import CommandParser
import Testing

@testable import Configuration

@Suite("Hosts and ports")
struct HostAndPortTests {
    @Test(
        "Host and port are read, and written the same",
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("localhost:65535", "localhost", 65_535),
            ("[::1]:9090", "::1", 9090), ("0.0.0.0:0", "0.0.0.0", 0),
        ])
    func reads(text: String, host: String, port: Int) throws {
        let bind = try #require(HostAndPort(text, ports: 0...65535))
        #expect(bind == HostAndPort(host: host, port: port))
        #expect(bind.description == text)
    }

    @Test(
        "No other text is",
        arguments: [
            "", ":", "localhost", ":8080", "localhost:", "localhost:+80", "localhost:-1", "localhost:65536", "::1:8080",
            "[::1]", "[]:80", "[localhost]:80", "a b:80", "http://localhost:80", "localhost:٨٠",
        ])
    func refuses(text: String) {
        #expect(HostAndPort(text, ports: 0...65535) == nil)
    }

    @Test("Port 0 is for listening only: nothing can be reached there")
    func portZero() {
        #expect(HostAndPort("kafka:0", ports: 1...65535) == nil)
    }
}

@Suite("Forms of URLs")
struct URLFormsTests {
    @Test("An endpoint is https and no more than host, port and path")
    func endpoints() {
        let form = ValueForm<String>.httpsURL
        #expect(form.read("https://buy.itunes.apple.com/verifyReceipt") != nil)
        #expect(form.read("https://127.0.0.1:14431/verifyReceipt") != nil)
        #expect(form.read("https://[::1]:14431/verifyReceipt") != nil)
        for text in [
            "", "https://", "http://a/", "ftp://a", "https://me@a/", "https://me:secret@a/", "https://a/?q",
            "https://a/#f", "a", "//a/b", "https://a b/", "https://a/b c", "https://a:0/", "https://a:99999/",
        ] {
            #expect(form.read(text) == nil)
        }
    }

    @Test("A base has no path of Apple's, and no slash at its end")
    func bases() {
        let form = ValueForm<String>.serverAPIBase
        #expect(form.read("https://api.storekit.apple.com/") == "https://api.storekit.apple.com")
        #expect(form.read("https://api.storekit.apple.com/inApps/v1") == nil)
    }

    @Test("A proxy's password is revealed to the HTTP client alone")
    func proxies() throws {
        let proxy = try #require(ProxyURL("http://me:canary@proxy.example.com:3128"))
        #expect(proxy.revealed() == "http://me:canary@proxy.example.com:3128")
        #expect("\(proxy)" == "http://<redacted>@proxy.example.com:3128")
        var dumped = ""
        dump(proxy, to: &dumped)
        #expect(!dumped.contains("canary") && !String(reflecting: proxy).contains("canary"))
        #expect(ProxyURL("http://proxy:3128")?.description == "http://proxy:3128")
        for text in [
            "proxy:3128", "socks5://proxy:1080", "https://proxy:3128", "http://proxy", "http://proxy:3128/path",
            "http://", "http://proxy:3128/?q", "http://pro xy:3128", "http://proxy:0", "http://u:p@pr%oxy:3128",
        ] {
            #expect(ProxyURL(text) == nil)
        }
    }
}
