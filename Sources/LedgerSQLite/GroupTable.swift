import Ledger

/// `consumer_group`: whose ledger it is.
struct GroupTable {
    let database: Database

    func owner() throws(StoreError) -> ConsumerGroup? {
        try database.statement("SELECT \(GroupColumns.shown) FROM consumer_group").first({ _ in }) {
            GroupColumns.group($0)
        }
    }

    /// - Returns: The group that it belongs to from now on.
    func bind(to group: ConsumerGroup) throws(StoreError) -> ConsumerGroup {
        if let owner = try owner() { return owner }
        try move(to: group)
        return group
    }

    /// - Returns: The group that it belonged to.
    @discardableResult
    func move(to group: ConsumerGroup) throws(StoreError) -> ConsumerGroup? {
        let former = try owner()
        try database.run("DELETE FROM consumer_group")
        try database.statement(
            "INSERT INTO consumer_group (one, \(GroupColumns.written.list)) VALUES (1, \(GroupColumns.written.values))"
        ).run {
            GroupColumns.write(group, to: &$0)
        }
        return former
    }
}
