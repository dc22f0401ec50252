import Ledger

/// `consumer_group`: whose ledger it is. Workers may add the row, and operators alone may change it.
struct GroupTable {
    let connection: PostgresConnection

    func owner() throws(PostgresFailure) -> ConsumerGroup? {
        try connection.run(PostgresStatement("SELECT \(GroupColumns.shown) FROM consumer_group")).first
            .map { GroupColumns.group($0) }
    }

    /// - Returns: The group that it belongs to from now on, perhaps that of a quicker worker.
    func bind(to group: ConsumerGroup) throws(PostgresFailure) -> ConsumerGroup {
        try run("ON CONFLICT (one) DO NOTHING", group)
        return try owner() ?? group
    }

    /// - Returns: The group that it belonged to.
    func move(to group: ConsumerGroup) throws(PostgresFailure) -> ConsumerGroup? {
        let former = try owner()
        let changes = GroupColumns.written.names.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        try run("ON CONFLICT (one) DO UPDATE SET \(changes)", group)
        return former
    }

    private func run(_ conflict: String, _ group: ConsumerGroup) throws(PostgresFailure) {
        try connection.run(
            PostgresStatement(
                """
                INSERT INTO consumer_group (one, \(GroupColumns.written.list)) VALUES (1, \(GroupColumns.written.values))
                \(conflict)
                """
            ) { GroupColumns.write(group, to: &$0) })
    }
}
