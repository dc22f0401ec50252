import Testing

@testable import Configuration

extension AppsFileTests {
    @Test("An inventory service is read with its secrets, which nothing shows")
    func inventory() throws {
        _ = try folder.write("canary-of-the-first\n", to: "secrets/new")
        _ = try folder.write("canary-of-the-second\n", to: "secrets/old")
        let certificates = try folder.write("-----BEGIN CERTIFICATE-----\n", to: "ca.pem")
        let apps = try load(
            """
            apps:
              - bundleId: com.example.game
                sandbox: {policy: accept}
                products: any
                fulfillment:
                  url: https://inventory.example.com/grants
                  secretFiles: [secrets/new, secrets/old]
                  timeout: 750ms
                  maxCalls: 7
                  caFile: ca.pem
              - bundleId: com.example.other
                sandbox: {policy: accept}
                products: any
                fulfillment: {url: 'http://127.0.0.1:9/', secretFiles: [secrets/new]}
            """)
        let first = try #require(apps.all[0].inventory)
        #expect(
            first
                == InventoryService(
                    url: "https://inventory.example.com/grants",
                    secrets: [SecretText("canary-of-the-first"), SecretText("canary-of-the-second")],
                    timeout: .milliseconds(750), maxCalls: 7, caFile: CertificateFile(path: certificates)))
        let second = try #require(apps.all[1].inventory)
        #expect(second.timeout == .seconds(5) && second.maxCalls == 50 && second.caFile == nil)
        var dumped = ""
        dump(apps, to: &dumped)
        #expect(!dumped.contains("canary"))
    }

    @Test(
        "Mistakes in an inventory service are named by member",
        arguments: [
            (
                "secretFiles: [s]",
                "url must be set: an https URL without user name, password and query; http only to localhost"
            ),
            (
                "url: 'https://me:secret@inventory.example.com/', secretFiles: [s]",
                "url must be an https URL without user name, password and query; http only to localhost"
            ),
            ("url: 'https://a/', secretFiles: [s], caFile: s", "caFile: s: the file holds no certificate in PEM"),
            ("url: 'https://a/'", "secretFiles must be a list of 1 or 2 files"),
            ("url: 'https://a/', secretFiles: [s, s, s]", "secretFiles must be a list of 1 or 2 files"),
            (
                "url: 'https://a/', secretFiles: [short]",
                "secretFiles[0] must be a file that holds one secret, on one line of 16 bytes or more"
            ),
            (
                "url: 'https://a/', secretFiles: [s], timeout: 2m",
                "timeout must be a duration with its unit, from 100ms to 1m"
            ),
            ("url: 'https://a/', secretFiles: [s], maxCalls: 0", "maxCalls must be a whole number from 1 to 1000"),
            ("url: 'https://a/', secretFile: [s]", "secretFile is unknown; docs/configuration.md has every name"),
        ])
    func inventoryMistakes(service: String, message: String) throws {
        _ = try folder.write("0123456789abcdef", to: "s")
        _ = try folder.write("0123456789abcde", to: "short")
        #expect(
            try refusal("# apps\napps: [{\(entry("fulfillment: {\(service)}"))}]\n")
                == "apps.yaml:2: apps[0].fulfillment.\(message)")
    }

    @Test("A service of the operator's own may be reached without TLS on this host only")
    func services() {
        let form = ValueForm<String>.serviceURL
        for text in [
            "https://inventory.example.com/grants", "http://localhost:9/", "http://127.0.0.1/a", "http://[::1]:9/",
        ] {
            #expect(form.read(text) == text)
        }
        for text in ["http://inventory.example.com/", "http://127.0.0.1.example.com/", "https://a/?token=x"] {
            #expect(form.read(text) == nil)
        }
    }
}
