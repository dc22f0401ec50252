/// A certificate for `localhost`, the authority it is from, and one it is not from.
enum ServerCertificates {
    static func make(in folder: String, _ tools: PostgresTools) throws {
        for name in ["ca", "other"] {
            try openssl(
                tools,
                ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
                    + ["-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).crt", "-subj", "/CN=\(name)"])
        }
        try openssl(
            tools,
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
                + ["-CA", "\(folder)/ca.crt", "-CAkey", "\(folder)/ca.key", "-keyout", "\(folder)/own.key"]
                + ["-out", "\(folder)/own.crt", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
                + ["-addext", "basicConstraints=critical,CA:FALSE"])
        for (name, mode) in [("crt", "0644"), ("key", "0600")] {
            try tools.run(
                "/usr/bin/install",
                ["-m", mode] + tools.ownership + ["\(folder)/own.\(name)", "\(folder)/server.\(name)"])
        }
    }

    private static func openssl(_ tools: PostgresTools, _ arguments: [String]) throws {
        try tools.run("/usr/bin/openssl", arguments)
    }
}
