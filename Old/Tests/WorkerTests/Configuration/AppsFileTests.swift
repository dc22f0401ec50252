import AppStore
import Crypto
import Fulfillment
import Purchases
import Testing

@testable import Worker

@Suite("Apps file")
struct AppsFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func load(_ text: String) throws -> [ConfiguredApp] {
        try AppsFile.load(try folder.write(text, to: "apps.yaml"))
    }

    /// The error's line without the folder, or nil.
    private func refusal(_ text: String) throws -> String? {
        let file = try folder.write(text, to: "apps.yaml")
        do throws(ConfigurationError) {
            _ = try AppsFile.load(file)
            return nil
        } catch {
            return error.description.replacing(folder.path + "/", with: "")
        }
    }

    @Test("A full entry is read to its last member")
    func fullEntry() throws {
        _ = try folder.write("canary-1\n", to: "secrets/one")
        let absolute = try folder.write("canary-2\r\n", to: "secrets/two")
        let key = P256.Signing.PrivateKey().pemRepresentation
        _ = try folder.write(key + "\n", to: "key.p8")
        let apps = try load(
            """
            apps:
              - bundleId: com.example.game
                appAppleId: 1234567890
                sharedSecretFiles: [secrets/one, \(absolute)]
                serverAPI: {issuerId: i-1, keyId: k-1, privateKeyFile: key.p8, share: 0.25}
                sandbox: {policy: users, users: [u-1, 42]}
                receipts: serverAPI
                confirmSignedTransactionsOlderThan: 24h
                familySharing: accept
                products:
                  - {id: com.example.game.gems100, type: consumable, items: [{item: gems, quantity: 100}]}
                  - {id: com.example.game.vip, type: autoRenewable, items: [{item: vip, quantity: 1}, {item: hat, quantity: 2}]}
            """)
        let app = try #require(apps.first)
        #expect(apps.count == 1)
        #expect(app.app.bundleID == "com.example.game")
        #expect(app.app.sandbox == .users(["u-1", "42"]))
        #expect(app.app.acceptsFamilySharing)
        #expect(app.app.products?["com.example.game.gems100"]?.items == [Item(item: "gems", quantity: 100)])
        #expect(app.app.products?["com.example.game.vip"]?.type == .autoRenewable)
        #expect(app.appAppleID == 1_234_567_890)
        #expect(app.sharedSecrets.map { $0.revealed() } == ["canary-1", "canary-2"])
        #expect(app.serverAPI?.issuerID == "i-1")
        #expect(app.serverAPI?.keyID == "k-1")
        #expect(app.serverAPIShare == 0.25)
        #expect(app.receipts == .serverAPI)
        #expect(app.confirmSignedTransactionsOlderThan == .seconds(86_400))
        var dumped = ""
        dump(apps, to: &dumped)
        let keyText = key.split(separator: "\n")[1]
        #expect(!dumped.contains("canary") && !dumped.contains("PRIVATE KEY") && !dumped.contains(keyText))
    }

    @Test("An inventory service is read with its secrets, which nothing shows")
    func inventory() throws {
        _ = try folder.write("canary-of-the-first\n", to: "secrets/new")
        _ = try folder.write("canary-of-the-second\n", to: "secrets/old")
        _ = try folder.write("-----BEGIN CERTIFICATE-----\n", to: "ca.pem")
        let apps = try load(
            """
            apps:
              - bundleId: com.example.game
                fulfillment:
                  url: https://inventory.example.com/grants
                  secretFiles: [secrets/new, secrets/old]
                  timeout: 750ms
                  maxInFlight: 7
                  caFile: ca.pem
              - bundleId: com.example.other
                fulfillment: {url: 'http://127.0.0.1:9/', secretFiles: [secrets/new]}
            """)
        let first = try #require(apps[0].inventory)
        #expect(
            first
                == InventoryService(
                    url: "https://inventory.example.com/grants",
                    secrets: [SigningSecret("canary-of-the-first"), SigningSecret("canary-of-the-second")],
                    timeout: .milliseconds(750), maxInFlight: 7, caFile: folder.path + "/ca.pem"))
        let second = try #require(apps[1].inventory)
        #expect(second.timeout == .seconds(5) && second.maxInFlight == 50 && second.caFile == nil)
        var dumped = ""
        dump(apps, to: &dumped)
        #expect(!dumped.contains("canary"))
    }

    @Test(
        "Mistakes in an inventory service are named by member",
        arguments: [
            ("secretFiles: [s]", "url must be set"),
            (
                "url: 'http://inventory.example.com/', secretFiles: [s]",
                "url must be an https URL without user name, password and query; http only to localhost"
            ),
            (
                "url: 'https://me:secret@inventory.example.com/', secretFiles: [s]",
                "url must be an https URL without user name, password and query; http only to localhost"
            ),
            (
                "url: 'https://a/?token=x', secretFiles: [s]",
                "url must be an https URL without user name, password and query; http only to localhost"
            ),
            (
                "url: 'https://a/', secretFiles: [s], caFile: s",
                "caFile must be a PEM file with at least one certificate"
            ),
            ("url: 'https://a/'", "secretFiles must be a list of 1 or 2 files"),
            ("url: 'https://a/', secretFiles: [s, s, s]", "secretFiles must be a list of 1 or 2 files"),
            (
                "url: 'https://a/', secretFiles: [short]",
                "secretFiles must be files that hold one secret each, on one line of 16 bytes or more"
            ),
            ("url: 'https://a/', secretFiles: [s], timeout: 2m", "timeout must be a duration from 100ms to 60s"),
            (
                "url: 'https://a/', secretFiles: [s], maxInFlight: 0",
                "maxInFlight must be a whole number from 1 to 1000"
            ),
            ("url: 'https://a/', secretFile: [s]", "secretFile: unknown; did you mean secretFiles?"),
        ])
    func inventoryMistakes(service: String, message: String) throws {
        _ = try folder.write("0123456789abcdef", to: "s")
        _ = try folder.write("0123456789abcde", to: "short")
        #expect(
            try refusal("# apps\napps: [{bundleId: a, fulfillment: {\(service)}}]\n")
                == "apps.yaml:2: apps[0].fulfillment.\(message)")
    }

    @Test("A short entry grants everything attested, in the sandbox too, but nothing family-shared")
    func shortEntry() throws {
        let app = try #require(try load("apps: [{bundleId: com.example.game}]").first)
        #expect(app.app == App(bundleID: "com.example.game"))
        #expect(app.app.products == nil)
        #expect(app.sharedSecrets.isEmpty)
    }

    @Test(
        "Mistakes in an entry are named by line and member",
        arguments: [
            ("bundleID: a", "apps[0].bundleID: unknown; did you mean bundleId?"),
            ("sandbox: {policy: accept}", "apps[0].bundleId must be set: 1-155 letters, digits, '.' and '-'"),
            ("bundleId: 'a b'", "apps[0].bundleId must be set: 1-155 letters, digits, '.' and '-'"),
            ("bundleId: a, appAppleId: x", "apps[0].appAppleId must be a whole number above 0"),
            ("bundleId: a, sandbox: {policy: maybe}", "apps[0].sandbox.policy must be one of accept, reject, users"),
            ("bundleId: a, sandbox: {}", "apps[0].sandbox.policy must be one of accept, reject, users"),
            ("bundleId: a, sandbox: accept", "apps[0].sandbox must be a mapping of names to values"),
            (
                "bundleId: a, sandbox: {policy: users}",
                "apps[0].sandbox.users must be a list of user ids of 1-128 characters"
            ),
            (
                "bundleId: a, sandbox: {policy: users, users: []}",
                "apps[0].sandbox.users must be a list of user ids of 1-128 characters"
            ),
            (
                "bundleId: a, sandbox: {policy: reject, users: [u]}",
                "apps[0].sandbox.users must be left out unless the policy is users"
            ),
            ("bundleId: a, sandbox: {polcy: reject}", "apps[0].sandbox.polcy: unknown; did you mean policy?"),
            ("bundleId: a, receipts: serverAPI", "apps[0].receipts must be another unless serverAPI is set"),
            ("bundleId: a, receipts: never", "apps[0].receipts must be one of verifyReceipt, serverAPI, local"),
            (
                "bundleId: a, confirmSignedTransactionsOlderThan: 24h",
                "apps[0].confirmSignedTransactionsOlderThan must be left out unless serverAPI is set"
            ),
            ("bundleId: a, familySharing: yes", "apps[0].familySharing must be one of reject, accept"),
            (
                "bundleId: a, confirmSignedTransactionsOlderThan: soon",
                "apps[0].confirmSignedTransactionsOlderThan must be a duration, such as 90s, 15m or 24h"
            ),
            (
                "bundleId: a, products: []",
                "apps[0].products must be a list of 1 to 10000 products, or left out to grant everything"
            ),
            ("bundleId: a, products: x", "apps[0].products must be a list"),
            ("bundleId: a, products: ", "apps[0].products must be a list"),
            ("bundleId: a, products: [x]", "apps[0].products[0] must be a mapping of names to values"),
            ("bundleId: a, serverAPI: {issuerId: i, keyId: k}", "apps[0].serverAPI.privateKeyFile must be set"),
            (
                "bundleId: a, sharedSecretFiles: []",
                "apps[0].sharedSecretFiles must be a list of 1 to 10 files, or left out"
            ),
        ])
    func mistakes(entry: String, message: String) throws {
        #expect(try refusal("# apps\napps: [{\(entry)}]\n") == "apps.yaml:2: \(message)")
    }

    @Test(
        "Mistakes in a product are named by line and member",
        arguments: [
            ("type: consumable", ".id must be set: 1-255 printable ASCII characters without spaces"),
            ("id: p, items: []", ".type must be one of consumable, nonConsumable, nonRenewing, autoRenewable"),
            ("id: p, type: Consumable", ".type must be one of consumable, nonConsumable, nonRenewing, autoRenewable"),
            ("id: p, type: consumable", ".items must be a list of 1 to 100 items"),
            (
                "id: p, type: consumable, items: [{item: g, quantity: 0}]",
                ".items[0].quantity must be a whole number from 1 to 1000000000"
            ),
            (
                "id: p, type: consumable, items: [{item: g, quantity: 1000000001}]",
                ".items[0].quantity must be a whole number from 1 to 1000000000"
            ),
            (
                "id: p, type: consumable, items: [{item: g}]",
                ".items[0].quantity must be a whole number from 1 to 1000000000"
            ),
            (
                "id: p, type: consumable, items: [{quantity: 1}]",
                ".items[0].item must be set: 1-128 characters, without control characters"
            ),
            (
                #"id: p, type: consumable, items: [{item: "a\u0007", quantity: 1}]"#,
                ".items[0].item must be set: 1-128 characters, without control characters"
            ),
            ("id: p, type: consumable, items: [{item: g, quantity: 1, colour: red}]", ".items[0].colour: unknown"),
            (
                "id: p, type: consumable, items: [{item: g, quantity: 1}, {item: g, quantity: 2}]",
                ".items[1].item must be unlike that of any item before it"
            ),
        ])
    func productMistakes(product: String, message: String) throws {
        let text = "apps:\n  - bundleId: a\n    products:\n      - {\(product)}\n"
        #expect(try refusal(text) == "apps.yaml:4: apps[0].products[0]\(message)")
    }

    @Test("An app or a product that is there twice is refused")
    func duplicates() throws {
        #expect(
            try refusal("apps:\n  - bundleId: a\n  - bundleId: a\n")
                == "apps.yaml:3: apps[1].bundleId must be unlike that of any app before it")
        let product = "{id: p, type: consumable, items: [{item: g, quantity: 1}]}"
        #expect(
            try refusal("apps: [{bundleId: a, products: [\(product), \(product)]}]")
                == "apps.yaml:1: apps[0].products[1].id must be unlike that of any product before it")
    }

    @Test("A file without apps is refused", arguments: ["", "apps: []", "app: []", "apps: {}", "[]"])
    func withoutApps(text: String) throws {
        #expect(try refusal(text)?.hasPrefix("apps.yaml") == true)
    }

    @Test("Secret files that are missing, empty, large or of several words are refused without their text")
    func secretFiles() throws {
        let entry = "apps: [{bundleId: a, sharedSecretFiles: [secret]}]"
        let member = "apps.yaml:1: apps[0].sharedSecretFiles"
        _ = try folder.write("\n", to: "secret")
        #expect(try refusal(entry) == "\(member)[0]: secret: the file holds nothing but white space")
        _ = try folder.write("canary one\n", to: "secret")
        #expect(
            try refusal(entry)
                == "\(member) must be files that hold one shared secret each, "
                + "on one line without spaces")
        _ = try folder.write(String(repeating: "x", count: SecretFile.maxBytes + 1), to: "secret")
        #expect(try refusal(entry) == "\(member)[0]: secret: the file is larger than 4096 bytes")
    }

    @Test(
        "A secret in the place of its path is not shown",
        arguments: ["canary", "canary/with/slashes==", "/canary/absolute", String(repeating: "canary", count: 99)])
    func secretForPath(secret: String) throws {
        let requirement = "must be the path of a file, and there is no such file"
        _ = try folder.write("one", to: "one")
        #expect(
            try refusal("apps:\n  - bundleId: a\n    sharedSecretFiles: [one,\n      \(secret)]\n")
                == "apps.yaml:4: apps[0].sharedSecretFiles[1] \(requirement)")
        #expect(
            try refusal("apps: [{bundleId: a, serverAPI: {issuerId: i, keyId: k, privateKeyFile: \(secret)}}]")
                == "apps.yaml:1: apps[0].serverAPI.privateKeyFile \(requirement)")
        #expect(
            try refusal("apps: [{bundleId: a, fulfillment: {url: 'https://a', secretFiles: [\(secret)]}}]")
                == "apps.yaml:1: apps[0].fulfillment.secretFiles[0] \(requirement)")
    }

    @Test("A path of which the first folder is there is shown, though its file is not")
    func missingSecretFile() throws {
        _ = try folder.write("one", to: "secrets/one")
        let member = "apps.yaml:1: apps[0].sharedSecretFiles[0]"
        for path in ["secrets/two", "secrets/deep/two", "/tmp/nowhere/two"] {
            #expect(
                try refusal("apps: [{bundleId: a, sharedSecretFiles: [\(path)]}]")
                    == "\(member): \(path): there is no such file")
        }
    }

    @Test("A private key that is none is refused without its text")
    func privateKey() throws {
        _ = try folder.write("canary", to: "key.p8")
        #expect(
            try refusal("apps: [{bundleId: a, serverAPI: {issuerId: i, keyId: k, privateKeyFile: key.p8}}]")
                == "apps.yaml:1: apps[0].serverAPI.privateKeyFile must be a PEM file with a private key on P-256 (.p8)")
    }

    @Test("The apps files that come with the program are read, but for secrets that are not there")
    func shippedFiles() throws {
        #expect(try AppsFile.load(Repository.path("config/apps.demo.yaml")).count == 2)
        let example = Repository.path("config/apps.example.yaml")
        let error = #expect(throws: ConfigurationError.self) { try AppsFile.load(example) }
        #expect(error?.description.hasSuffix(": /run/secrets/shared-secret: there is no such file") == true)
    }

    @Test("An apps file that cannot be read is refused by the key that names it")
    func unreadable() throws {
        let missing = folder.path + "/missing.yaml"
        let error = #expect(throws: ConfigurationError.file(missing, .notThere, namedBy: .key(.appsFile))) {
            try AppsFile.load(missing)
        }
        #expect(
            error?.description == "GRANTOR_APPS_FILE (appsFile in the file): \(missing): there is no such file")
        let large = try folder.write(String(repeating: "#", count: AppsFile.maxBytes + 1), to: "large.yaml")
        #expect(
            throws: ConfigurationError.file(large, .tooLarge(limit: 4 << 20), namedBy: .key(.appsFile))
        ) { try AppsFile.load(large) }
    }
}
