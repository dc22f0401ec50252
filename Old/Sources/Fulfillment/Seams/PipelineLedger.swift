public import Ledger

/// All that a pipeline asks of a ledger.
public typealias PipelineLedger = LedgerStore & WaitingRoom
