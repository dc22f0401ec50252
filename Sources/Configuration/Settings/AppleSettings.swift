public import AppStore

/// How Apple is reached.
public struct AppleSettings: Sendable {
    /// The whole URL.
    public let verifyReceiptProductionURL: String
    /// The whole URL.
    public let verifyReceiptSandboxURL: String
    /// The base, without `/inApps` and without a slash at its end.
    public let serverAPIProductionURL: String
    /// The base, without `/inApps` and without a slash at its end.
    public let serverAPISandboxURL: String
    /// Nil for no proxy.
    public let proxy: ProxyURL?
    /// The authorities that TLS connections are checked against; nil for the system's.
    public let caFile: CertificateFile?
    /// The root certificates that signed data must chain to.
    public let roots: TrustedRoots
    /// For looking up the name, TCP and TLS together.
    public let connectTimeout: Duration
    /// For a whole request, connecting included; never shorter than ``connectTimeout``.
    public let timeout: Duration

    /// Reads the part of the configuration that says how Apple is reached.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        verifyReceiptProductionURL = try values.value(Settings.verifyReceiptProductionURL)
        verifyReceiptSandboxURL = try values.value(Settings.verifyReceiptSandboxURL)
        serverAPIProductionURL = try values.value(Settings.serverAPIProductionURL)
        serverAPISandboxURL = try values.value(Settings.serverAPISandboxURL)
        proxy = try values.value(Settings.appleProxy)
        caFile = try values.value(Settings.appleCAFile)
        if let certificates = try values.value(Settings.rootCertificates) {
            roots = certificates.roots
        } else {
            roots = try RootCertificates.apple(namedBy: values.place(Settings.rootCertificates.name)).roots
        }
        connectTimeout = try values.value(Settings.connectTimeout)
        timeout = try values.value(Settings.timeout)
        func contradict(
            _ one: some SettingRow, _ other: some SettingRow, _ problem: String
        ) -> ConfigurationError {
            .contradiction(values.place(one.name), values.place(other.name), problem: problem)
        }
        guard connectTimeout <= timeout else {
            throw contradict(
                Settings.connectTimeout, Settings.timeout, "contradict: connecting is a part of the whole")
        }
        // A sandbox receipt that production's endpoint is asked about twice would never be decided.
        guard Self.comparable(verifyReceiptProductionURL) != Self.comparable(verifyReceiptSandboxURL) else {
            throw contradict(
                Settings.verifyReceiptProductionURL, Settings.verifyReceiptSandboxURL, "must be different endpoints")
        }
        guard Self.comparable(serverAPIProductionURL) != Self.comparable(serverAPISandboxURL) else {
            throw contradict(
                Settings.serverAPIProductionURL, Settings.serverAPISandboxURL, "must be different endpoints")
        }
    }

    /// Two spellings that reach one endpoint are equal in it.
    private static func comparable(_ url: String) -> String {
        var text = url.lowercased()
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }
}
