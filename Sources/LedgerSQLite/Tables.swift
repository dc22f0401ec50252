/// The statements on each table. A transaction is open while they run.
extension Database {
    var actions: ActionTable { ActionTable(database: self) }
    var answers: AnswerTable { AnswerTable(database: self) }
    var decided: DecidedRows { DecidedRows(database: self) }
    var grants: GrantTable { GrantTable(database: self) }
    var group: GroupTable { GroupTable(database: self) }
    var outbox: OutboxTable { OutboxTable(database: self) }
    var partitions: PartitionTable { PartitionTable(database: self) }
    var retries: RetryTable { RetryTable(database: self) }
    var workers: WorkerTable { WorkerTable(database: self) }
}
