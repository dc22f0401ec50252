/// The program's own variables among those of the process.
enum EnvironmentVariables {
    /// Picks the `GRANTOR_` variables out; one that sets nothing is an error.
    ///
    /// Kubernetes sets variables for each service of a namespace, named after it. Those of a service called `grantor`
    /// or `grantor-...` are left out: they are nobody's mistake.
    static func own(_ environment: [String: String]) throws(ConfigurationError) -> [String: String] {
        let known = Set(Settings.all.map(\.name.environmentName))
        let own = environment.filter { name, value in
            name.hasPrefix(SettingName.environmentPrefix) && (known.contains(name) || !isServiceLink(name, value))
        }
        for name in own.keys.sorted() where !known.contains(name) { throw .unknownVariable(name) }
        return own
    }

    /// Whether a variable is of the forms that Kubernetes makes up for a service, as of
    /// <https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables>. One that ends with
    /// `_PORT` could be a setting, so its value has to be an address of a protocol as well.
    private static func isServiceLink(_ name: String, _ value: String) -> Bool {
        let port = /.+_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?/
        let address = ["tcp://", "udp://", "sctp://"].contains { value.hasPrefix($0) }
        let service = /.+_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)/
        return name.hasSuffix("_PORT") && address || name.wholeMatch(of: port) != nil
            || name.wholeMatch(of: service) != nil
    }
}
