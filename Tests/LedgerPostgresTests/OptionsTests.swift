import Testing

@testable import LedgerPostgres

@Suite struct OptionsTests {
    private func parameters(_ options: PostgresOptions, _ host: Int = 0) -> [String: String] {
        options.withKeywords(for: options.hosts[host]) { names, values in
            let pairs = zip(names, values).compactMap { name, value in
                name.flatMap { name in value.map { (String(cString: name), String(cString: $0)) } }
            }
            return Dictionary(uniqueKeysWithValues: pairs)
        }
    }

    @Test(
        "A URL is shown without its password",
        arguments: [
            ("postgres://db.example.com/grantor", "postgres://db.example.com/grantor"),
            ("postgresql://u:secret@a:5433,b,c:5434/grantor", "postgres://a:5433,b,c:5434/grantor"),
            ("postgres://u:secret%40%2F@[::1]:5432/grantor", "postgres://[::1]:5432/grantor"),
            ("postgres:///grantor?host=/run/postgresql&port=5433", "postgres://:5433/grantor"),
            ("postgres://a,b/grantor?port=5433&password=secret", "postgres://a:5433,b:5433/grantor"),
            ("postgres:///grantor", "postgres:///grantor"),
        ])
    func accepted(url: String, shown: String) throws {
        let options = try PostgresOptions(url: url)
        #expect(options.description == shown.replacing("//:5433", with: "///run/postgresql:5433"))
        #expect(!String(reflecting: options).contains("secret"))
        var dumped = ""
        dump(options, to: &dumped)
        #expect(!dumped.contains("secret"))
    }

    @Test(
        "A URL that makes no sense is refused in one line, which has nothing of its password",
        arguments: [
            ("", "begins with postgres://"), ("host=a dbname=b", "begins with"), ("mysql://a/b", "begins with"),
            ("postgres://a", "no database"), ("postgres://a/", "no database"), ("postgres://a/%zz", "wrong %-code"),
            ("postgres://a/b?sslmod=require", "unknown parameter"), ("postgres://a/b\u{0}c", "cannot be read"),
            ("postgres://a/b?service=x", "cannot set service"), ("postgres://a/b?hostaddr=1.2.3.4", "set hostaddr"),
            ("postgres://a/b?sslmode=prefer", "sslmode of the PostgreSQL URL is none of disable, require"),
            ("postgres://a/b?target_session_attrs=standby", "none of any, primary, read-write"),
            ("postgres://a/b?connect_timeout=0", "connect_timeout of the PostgreSQL URL is no whole number"),
            ("postgres://a/b?tcp_user_timeout=1s", "tcp_user_timeout"), ("postgres://a:99999/b", "a port"),
            ("postgres://a,b,c/d?port=1,2", "2 ports for 3 hosts"), ("postgres://a,,c/d", "a host"),
            ("postgres://u:sec/ret@host/b", "no database"), ("postgres://u:sec/ret", "a port"),
            ("postgres://u:1/secret@host/b", "no database"), ("postgres://u:sec@ret@host/b", "a host"),
            ("postgres://u:sec%ret@host/b", "wrong %-code"), ("postgres://u:s#ec/re?t@host/b", "unknown parameter"),
        ])
    func refused(url: String, part: String) {
        let error = failure { _ = try PostgresOptions(url: url) }
        guard case .options(let text) = error else {
            Issue.record("\(url): \(String(describing: error))")
            return
        }
        #expect(text.contains(part) && !text.contains("\n"))
        #expect(!text.contains("sec") && !text.contains("ret"))
        #expect(error?.error(at: "", isOpening: true).word == "unusable")
    }

    @Test("An environment that leads elsewhere than the URL is refused", arguments: ["PGHOSTADDR", "PGSERVICE"])
    func environment(variable: String) {
        let error = failure { _ = try PostgresOptions(url: "postgres://a/b", isSet: { $0 == variable }) }
        #expect(error == .options("\(variable) of the environment leads elsewhere than the PostgreSQL URL; unset it"))
    }

    @Test("Another machine has to prove its name; this one need not")
    func certificates() throws {
        for (url, mode) in [
            ("postgres://db.example.com/g", "verify-full"), ("postgres://127.0.0.1,db/g", "verify-full"),
            ("postgres://db/g?sslmode=require", "require"), ("postgres://localhost/g", nil), ("postgres:///g", nil),
        ] {
            #expect(parameters(try PostgresOptions(url: url))["sslmode"] == mode)
        }
        let authorities = "/etc/ssl/certs/ca-certificates.crt"
        #expect(parameters(try PostgresOptions(url: "postgres://db/g"))["sslrootcert"] == authorities)
        let own = try PostgresOptions(url: "postgres://db/g?sslrootcert=/own&sslmode=verify-ca")
        #expect(parameters(own)["sslrootcert"] == "/own")
    }

    @Test("Each host is a connection of its own, with what keeps silence short")
    func parameters() throws {
        let options = try PostgresOptions(
            url: "postgres://u:p@a:1,b/g?connect_timeout=7&tcp_user_timeout=99&target_session_attrs=primary")
        #expect(options.connectTimeout == .seconds(7) && options.target == .primary)
        let first = parameters(options)
        #expect(first["host"] == "a" && first["port"] == "1" && first["password"] == "p")
        #expect(first["tcp_user_timeout"] == "99" && first["keepalives_idle"] == "10")
        #expect(first["client_encoding"] == "UTF8" && first["application_name"] == "grantor")
        #expect(first["connect_timeout"] == nil && first["options"] == "-c statement_timeout=0")
        let second = parameters(options, 1)
        #expect(second["host"] == "b" && second["port"] == "5432")
        #expect(try PostgresOptions(url: "postgres:///g").target == .readWrite)
    }
}
