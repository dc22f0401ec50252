/// One setting as it may be shown.
public struct SettingLine: Hashable, Sendable {
    public let name: SettingName
    /// The value in force; of secrets only that there are some.
    public let value: String
    public let source: SettingSource
}

extension Settings {
    /// All settings in force, in the order of the table.
    static func lines(_ values: SettingValues) throws(ConfigurationError) -> [SettingLine] {
        var lines: [SettingLine] = []
        for row in all {
            lines.append(
                SettingLine(name: row.name, value: try row.shown(values), source: values.source(row.name)))
        }
        return lines
    }

    /// The table of docs/configuration.md. A test holds the document against it.
    static var markdown: String {
        let rows = all.map { row in
            "| `\(row.name.environmentName)` | `\(row.name.key)` | \(row.documentedDefault) | \(row.help) |\n"
        }
        return "| variable | key in the file | default | |\n|---|---|---|---|\n" + rows.joined()
    }
}
