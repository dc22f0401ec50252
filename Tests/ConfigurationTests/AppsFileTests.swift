import AppStore
import CertificateMaking
import Contract
import FileTesting
import Testing

@testable import Configuration

@Suite("Apps file")
struct ConfiguredAppsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func load(_ text: String) throws -> ConfiguredApps {
        try ConfiguredApps(file: try folder.write(text, to: "apps.yaml"))
    }

    /// The error's line without the folder, or nil.
    private func refusal(_ text: String) throws -> String? {
        let file = try folder.write(text, to: "apps.yaml")
        do throws(ConfigurationError) {
            _ = try ConfiguredApps(file: file)
            return nil
        } catch {
            return error.description.replacing(folder.path + "/", with: "")
        }
    }

    /// The members that every app must have, and some more.
    private func entry(_ more: String, bundleID: String = "a") -> String {
        "bundleId: \(bundleID), sandbox: {policy: reject}, products: any\(more.isEmpty ? "" : ", ")\(more)"
    }

    @Test("A full entry is read to its last member")
    func fullEntry() throws {
        _ = try folder.write("canary-1\n", to: "secrets/one")
        let absolute = try folder.write("canary-2\r\n", to: "secrets/two")
        _ = try folder.write(SampleKey.pem + "\n", to: "key.p8")
        let apps = try load(
            """
            apps:
              - bundleId: com.example.game
                sharedSecretFiles: [secrets/one, \(absolute)]
                serverAPI: {issuerId: i-1, keyId: k-1, privateKeyFile: key.p8, share: 0.25}
                sandbox: {policy: users, users: [u-1, 42]}
                receipts: serverAPI
                confirmSignedTransactionsOlderThan: 36h
                familySharing: accept
                accountToken: required
                repeats: ignore
                products:
                  - {id: com.example.game.gems100, type: consumable, items: [{item: gems, quantity: 100}]}
                  - {id: com.example.game.vip, type: autoRenewable, items: [{item: vip, quantity: 1}, {item: hat, quantity: 2}]}
            """)
        let app = try #require(apps["com.example.game"])
        #expect(apps.all == [app])
        let products: [ProductID: Product] = [
            "com.example.game.gems100": Product(
                id: "com.example.game.gems100", type: .consumable, items: [Item(item: "gems", quantity: 100)]),
            "com.example.game.vip": Product(
                id: "com.example.game.vip", type: .autoRenewable,
                items: [Item(item: "vip", quantity: 1), Item(item: "hat", quantity: 2)]),
        ]
        #expect(
            app.app
                == App(
                    bundleID: "com.example.game", sandbox: .users(["u-1", "42"]), products: .catalogue(products),
                    acceptsFamilySharing: true, accountToken: .required, repeats: .ignore))
        #expect(app.sharedSecrets == [SharedSecret("canary-1"), SharedSecret("canary-2")])
        let serverAPI = try #require(app.serverAPI)
        #expect(serverAPI.credentials.issuerID == "i-1" && serverAPI.credentials.keyID == "k-1")
        #expect(serverAPI.share == 0.25)
        #expect(serverAPI.confirmsSignedTransactionsOlderThan == .seconds(36 * 3600))
        #expect(app.receipts == .serverAPI)
        #expect(app.makeRules().app == app.app && app.makeRules().hasServerAPIKey)
        var dumped = ""
        dump(apps, to: &dumped)
        #expect(!dumped.contains("canary") && !dumped.contains("PRIVATE KEY"))
    }

    @Test("A short entry has the careful choices")
    func shortEntry() throws {
        let app = try #require(try load("apps: [{\(entry("", bundleID: "com.example.game"))}]").all.first)
        #expect(app.app == App(bundleID: "com.example.game", sandbox: .reject, products: .any))
        #expect(app.app.accountToken == .match && app.app.repeats == .publish && !app.app.acceptsFamilySharing)
        #expect(app.app.whenVerifyReceiptUnavailable == .wait)
        #expect(app.receipts == .verifyReceipt)
        #expect(app.sharedSecrets.isEmpty && app.serverAPI == nil)
    }

    @Test(
        "Where there is a key, signed transactions are confirmed from a day on, unless another age is set",
        arguments: [
            ("", Duration.seconds(86_400)), ("confirmSignedTransactionsOlderThan: 0s", .zero),
            ("confirmSignedTransactionsOlderThan: never", nil),
        ])
    func confirmation(more: String, age: Duration?) throws {
        _ = try folder.write(SampleKey.pem, to: "key.p8")
        let key = "serverAPI: {issuerId: i, keyId: k, privateKeyFile: key.p8}"
        let apps = try load("apps: [{\(entry(key + (more.isEmpty ? "" : ", ") + more))}]")
        let serverAPI = try #require(apps["a"]?.serverAPI)
        #expect(serverAPI.confirmsSignedTransactionsOlderThan == age && serverAPI.share == 1)
    }

    @Test("An outage of verifyReceipt may be bridged where it is what decides")
    func outage() throws {
        let apps = try load("apps: [{\(entry("whenVerifyReceiptUnavailable: local"))}]")
        #expect(apps["a"]?.app.whenVerifyReceiptUnavailable == .local)
        #expect(
            try refusal("apps: [{\(entry("receipts: local, whenVerifyReceiptUnavailable: wait"))}]")
                == "apps.yaml:1: apps[0].whenVerifyReceiptUnavailable must be left out unless receipts is verifyReceipt"
        )
    }

    @Test("Products that are not listed are held, unless the list is said to be whole")
    func unlistedProducts() throws {
        let list = "products: [{id: p, type: consumable, items: [{item: gems, quantity: 1}]}]"
        func app(_ more: String) throws -> App? {
            try load("apps: [{bundleId: a, sandbox: {policy: reject}, \(list)\(more)}]")["a"]?.app
        }
        #expect(try app("")?.unlistedProducts == .hold)
        #expect(try app(", unlistedProducts: hold")?.unlistedProducts == .hold)
        #expect(try app(", unlistedProducts: fail")?.unlistedProducts == .fail)
        for word in ["hold", "fail"] {
            #expect(
                try refusal("apps: [{\(entry("unlistedProducts: \(word)"))}]")
                    == "apps.yaml:1: apps[0].unlistedProducts must be left out where products is any")
        }
    }

    @Test(
        "Sandbox and products have no default",
        arguments: [
            (
                "bundleId: a, products: any",
                "sandbox must be set: whether purchases without money are granted, such as {policy: reject}"
            ),
            (
                "bundleId: a, sandbox: {policy: accept}",
                "products must be a list of 1 to 10000 products, or any to grant every product"
            ),
            ("sandbox: {policy: accept}", "bundleId must be set: 1-155 letters, digits, '.' and '-'"),
        ])
    func missing(entry: String, message: String) throws {
        #expect(try refusal("apps: [{\(entry)}]") == "apps.yaml:1: apps[0].\(message)")
    }

    @Test(
        "Mistakes in an entry are named by line and member",
        arguments: [
            ("bundleID: a", "bundleID is unknown; docs/configuration.md has every name"),
            ("bundleId: 'a b'", "bundleId must be 1-155 letters, digits, '.' and '-'"),
            ("sandbox: {policy: maybe}", "sandbox.policy must be one of accept, reject, users"),
            ("sandbox: {}", "sandbox.policy must be set: one of accept, reject, users"),
            ("sandbox: accept", "sandbox must be a mapping of names to values"),
            ("sandbox: {policy: users}", "sandbox.users must be a list of user ids of 1-128 characters"),
            ("sandbox: {policy: users, users: []}", "sandbox.users must be a list of user ids of 1-128 characters"),
            ("sandbox: {policy: reject, users: [u]}", "sandbox.users must be left out unless the policy is users"),
            ("sandbox: {polcy: reject}", "sandbox.polcy is unknown; docs/configuration.md has every name"),
            ("receipts: serverAPI", "serverAPI must be set, because receipts is serverAPI"),
            ("receipts: never", "receipts must be one of verifyReceipt, local, serverAPI"),
            (
                "confirmSignedTransactionsOlderThan: 24h",
                "confirmSignedTransactionsOlderThan must be left out unless serverAPI is set"
            ),
            (
                "confirmSignedTransactionsOlderThan: soon",
                "confirmSignedTransactionsOlderThan must be a duration with its unit, such as 90s, 15m or 24h, or never"
            ),
            ("familySharing: yes", "familySharing must be one of reject, accept"),
            ("accountToken: maybe", "accountToken must be one of match, required, ignore"),
            ("repeats: maybe", "repeats must be one of publish, ignore"),
            (
                "whenVerifyReceiptUnavailable: grant",
                "whenVerifyReceiptUnavailable must be one of wait, local"
            ),
            ("products: []", "products must be a list of 1 to 10000 products, or any to grant every product"),
            ("products: all", "products must be a list of 1 to 10000 products, or any to grant every product"),
            ("products: ", "products must be set, not empty"),
            ("products: {}", "products must be a list"),
            ("products: [x]", "products[0] must be a mapping of names to values"),
            ("serverAPI: {issuerId: i, keyId: k}", "serverAPI.privateKeyFile must be set: the path of a file"),
            ("sharedSecretFiles: []", "sharedSecretFiles must be a list of 1 to 10 files, or left out"),
        ])
    func mistakes(mistake: String, message: String) throws {
        let name = mistake.prefix { $0 != ":" }
        let members = ["bundleId: a", "sandbox: {policy: reject}", "products: any"].filter { !$0.hasPrefix(name + ":") }
        #expect(
            try refusal("# apps\napps: [{\((members + [mistake]).joined(separator: ", "))}]\n")
                == "apps.yaml:2: apps[0].\(message)")
    }

    @Test(
        "Mistakes in a product are named by line and member",
        arguments: [
            ("type: consumable", ".id must be set: 1-255 printable ASCII characters without spaces"),
            ("id: 'p q'", ".id must be 1-255 printable ASCII characters without spaces"),
            (
                "id: p, items: []",
                ".type must be set: one of consumable, nonConsumable, nonRenewing, autoRenewable"
            ),
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
                ".items[0].quantity must be set: a whole number from 1 to 1000000000"
            ),
            ("id: p, type: consumable, items: [{quantity: 1}]", ".items[0].item must be set: 1-128 characters"),
            (
                #"id: p, type: consumable, items: [{item: "a\u0007", quantity: 1}]"#,
                ".items[0].item must be a text without control characters"
            ),
            (
                "id: p, type: consumable, items: [{item: g, quantity: 1, colour: red}]",
                ".items[0].colour is unknown; docs/configuration.md has every name"
            ),
            (
                "id: p, type: consumable, items: [{item: g, quantity: 1}, {item: g, quantity: 2}]",
                ".items[1].item must be unlike that of any item before it"
            ),
        ])
    func productMistakes(product: String, message: String) throws {
        let text = "apps:\n  - bundleId: a\n    sandbox: {policy: reject}\n    products:\n      - {\(product)}\n"
        #expect(try refusal(text) == "apps.yaml:5: apps[0].products[0]\(message)")
    }

    @Test("An app or a product that is there twice is refused")
    func duplicates() throws {
        #expect(
            try refusal("apps:\n  - {\(entry(""))}\n  - {\(entry(""))}\n")
                == "apps.yaml:3: apps[1].bundleId must be unlike that of any app before it")
        let product = "{id: p, type: consumable, items: [{item: g, quantity: 1}]}"
        #expect(
            try refusal("apps: [{bundleId: a, sandbox: {policy: reject}, products: [\(product), \(product)]}]")
                == "apps.yaml:1: apps[0].products[1].id must be unlike that of any product before it")
    }

    @Test("A file without apps is refused", arguments: ["", "apps: []", "app: []", "apps: {}", "[]"])
    func withoutApps(text: String) throws {
        #expect(try refusal(text)?.hasPrefix("apps.yaml") == true)
    }

    @Test("Secret files that are blank, large or of several words are refused without their text")
    func secretFiles() throws {
        let file = "apps: [{\(entry("sharedSecretFiles: [secret]"))}]"
        let member = "apps.yaml:1: apps[0].sharedSecretFiles[0]"
        _ = try folder.write("\n", to: "secret")
        #expect(try refusal(file) == "\(member): secret: the file holds nothing but white space")
        _ = try folder.write("canary one\n", to: "secret")
        #expect(
            try refusal(file) == "\(member) must be a file that holds one shared secret, on one line without spaces")
        _ = try folder.write(String(repeating: "x", count: SecretFile.maxBytes + 1), to: "secret")
        #expect(try refusal(file) == "\(member): secret: the file is larger than 4096 bytes")
    }

    @Test(
        "A secret in the place of its path is not shown",
        arguments: ["canary", "canary/with/slashes==", "/canary/absolute", String(repeating: "canary", count: 99)])
    func secretForPath(secret: String) throws {
        let requirement =
            "must be the path of a file, absolute or relative to \(folder.path), and there is no such file"
        _ = try folder.write("one", to: "one")
        let list = "    sandbox: {policy: reject}\n    products: any\n    sharedSecretFiles: [one,\n      \(secret)]\n"
        #expect(
            try refusal("apps:\n  - bundleId: a\n" + list)
                == "apps.yaml:6: apps[0].sharedSecretFiles[1] \(requirement)")
        #expect(
            try refusal("apps: [{\(entry("serverAPI: {issuerId: i, keyId: k, privateKeyFile: \(secret)}"))}]")
                == "apps.yaml:1: apps[0].serverAPI.privateKeyFile \(requirement)")
    }

    @Test("A path of which the first folder is there is shown, though its file is not")
    func missingSecretFile() throws {
        _ = try folder.write("one", to: "secrets/one")
        let member = "apps.yaml:1: apps[0].sharedSecretFiles[0]"
        for path in ["secrets/two", "secrets/deep/two", "/tmp/nowhere/two"] {
            #expect(
                try refusal("apps: [{\(entry("sharedSecretFiles: [\(path)]"))}]")
                    == "\(member): \(path): there is no such file")
        }
    }

    @Test("A private key that is none is refused without its text")
    func privateKey() throws {
        _ = try folder.write("canary", to: "key.p8")
        #expect(
            try refusal("apps: [{\(entry("serverAPI: {issuerId: i, keyId: k, privateKeyFile: key.p8}"))}]")
                == "apps.yaml:1: apps[0].serverAPI.privateKeyFile must be a PEM file with a private key on P-256 (.p8)")
    }

    @Test("The apps files that come with the program are read, but for secrets that are not there")
    func shippedFiles() throws {
        #expect(try ConfiguredApps(file: Repository.path("config/apps.demo.yaml")).all.count == 2)
        let example = Repository.path("config/apps.example.yaml")
        let error = #expect(throws: ConfigurationError.self) { try ConfiguredApps(file: example) }
        #expect(error?.description.hasSuffix(": /run/secrets/shared-secret: there is no such file") == true)
    }

    @Test("An apps file that cannot be read is refused by the setting that names it")
    func unreadable() throws {
        let missing = folder.path + "/missing.yaml"
        let error = #expect(throws: ConfigurationError.self) { try ConfiguredApps(file: missing) }
        #expect(
            error?.description == "GRANTOR_APPS_FILE (appsFile in the file): \(missing): there is no such file")
    }

    @Test("Bundle ids alone are read without the files of secrets")
    func bundleIDs() throws {
        let file = try folder.write(
            "apps: [{bundleId: a, sharedSecretFiles: [none]}, {bundleId: b}]\n", to: "apps.yaml")
        let values = try SettingValues.load(file: nil, environment: ["GRANTOR_APPS_FILE": file])
        #expect(try ConfiguredApps.bundleIDs(values) == ["a", "b"])
    }

    @Test("A file that is read again gives another snapshot and leaves the first as it was")
    func readAgain() throws {
        let first = try load("apps: [{\(entry(""))}]")
        let second = try load("apps: [{\(entry("", bundleID: "b"))}]")
        #expect(first["a"] != nil && first["b"] == nil)
        #expect(second["a"] == nil && second["b"] != nil)
    }
}
