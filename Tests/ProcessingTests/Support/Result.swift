/// Runs a closure. `#expect` and `#require` take a mutating call only within one.
func result<Value>(_ body: () throws -> Value) rethrows -> Value { try body() }
