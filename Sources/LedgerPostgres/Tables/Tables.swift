/// The statements on each table. A transaction is open while they run.
extension PostgresConnection {
    var actions: ActionTable { ActionTable(connection: self) }
    var answers: AnswerTable { AnswerTable(connection: self) }
    var decided: DecidedRows { DecidedRows(connection: self) }
    var grants: GrantTable { GrantTable(connection: self) }
    var group: GroupTable { GroupTable(connection: self) }
    var outbox: OutboxTable { OutboxTable(connection: self) }
    var partitions: PartitionTable { PartitionTable(connection: self) }
    var retries: RetryTable { RetryTable(connection: self) }
    var workers: WorkerTable { WorkerTable(connection: self) }
}
