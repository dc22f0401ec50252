/// Clients by the authorities that they trust, with the calls that each has under way. Pure.
///
/// A client that no service of the apps file in force needs is dropped when its last call ends. Apps files change, and
/// each client has a thread.
struct ClientTable<Client> {
    private struct Entry {
        var client: Client
        var calls = 0
    }

    private var entries: [String?: Entry] = [:]
    private var needed: Set<String?> = []

    /// The client for a file of authorities; nil where none was made. Nil is the file of the system's.
    subscript(_ authorities: String?) -> Client? { entries[authorities]?.client }

    func needs(_ authorities: String?) -> Bool { needed.contains(authorities) }

    /// Another apps file is in force.
    /// - Returns: the clients that are let go.
    mutating func need(_ authorities: Set<String?>) -> [Client] {
        needed = authorities
        return entries.keys.compactMap { letGo($0) }
    }

    /// A client was made, perhaps to replace one that has ended by itself, whose calls end, too.
    mutating func add(_ client: Client, for authorities: String?) {
        entries[authorities] = Entry(client: client, calls: entries[authorities]?.calls ?? 0)
    }

    /// Sends calls by a client, and counts them if it takes them: only then does each of them end.
    /// - Returns: false if there is no client, or it has ended by itself.
    mutating func send(_ calls: Int, _ authorities: String?, by send: (Client) -> Bool) -> Bool {
        guard let client = entries[authorities]?.client, send(client) else { return false }
        entries[authorities]?.calls += calls
        return true
    }

    /// Calls that were sent have ended.
    /// - Returns: the client, if it is let go.
    mutating func ended(_ calls: Int, _ authorities: String?) -> Client? {
        entries[authorities]?.calls -= calls
        return letGo(authorities)
    }

    private mutating func letGo(_ authorities: String?) -> Client? {
        guard let entry = entries[authorities], entry.calls <= 0, !needed.contains(authorities) else { return nil }
        entries[authorities] = nil
        return entry.client
    }

    /// All of them are let go.
    mutating func removeAll() -> [Client] {
        defer { entries = [:] }
        return entries.values.map(\.client)
    }
}
