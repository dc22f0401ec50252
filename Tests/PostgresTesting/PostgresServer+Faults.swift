/// Faults of a server, and standbys. Each call returns when it is done.
extension PostgresServer {
    /// Ends every process of the server by SIGKILL.
    public func kill() throws { try command("kill") }

    /// Ends it without a checkpoint, as a crash does (`pg_ctl -m immediate`).
    public func crash() throws { try command("crash") }

    /// Ends sessions and stops in order, and starts again (`pg_ctl -m fast`).
    public func restart() throws { try command("restart") }

    /// Starts it after ``kill()`` or ``crash()``, or if it has ended by itself, and waits until it answers. Does
    /// nothing to one that runs.
    public func start() throws { try command("start") }

    /// Freezes every process of the server (SIGSTOP): connections stay open and nothing is answered.
    public func freeze() throws { try command("freeze") }

    /// Lets the frozen server go on (SIGCONT).
    public func thaw() throws { try command("thaw") }

    /// Freezes the processes that send to standbys, so that nothing that is written from now on gets there.
    public func holdReplication() throws {
        let senders = try run("SELECT string_agg(pid::text, ' ') FROM pg_stat_replication") ?? ""
        for sender in senders.split(separator: " ") { try command("hold \(sender)") }
    }

    /// Deletes its data, copies a primary's, and follows it as a standby.
    public func follow(_ primary: PostgresServer) throws { try command("follow \(primary.folder) \(primary.port)") }

    /// Makes a standby a primary, and waits until it takes writes.
    public func promote() throws { try command("promote") }

    /// Commits wait for a standby from now on.
    public func waitForStandby() throws {
        try run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try run("SELECT pg_reload_conf()")
    }
}
