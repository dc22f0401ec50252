/// The version of a ledger's schema, and which programs work with it.
///
/// A step takes nothing away that a program of the version before uses. So a program works with its own version and
/// with the next one. The `grantor migrate` of a new release runs first, and then workers are replaced one after the
/// other. docs/versions.md has the whole rule.
public enum SchemaVersion {
    /// Why a program of one version cannot work with a ledger of another; nil if it can. The text is for people.
    /// - Parameter found: The ledger's; 0 where there is none.
    public static func refusal(of found: Int, by own: Int) -> String? {
        switch found {
        case own, own + 1: nil
        case 0:
            "it has no ledger; if it had one, restore its backup (docs/guarantees.md, After a backup); else grantor "
                + "migrate makes one"
        case ..<own: "schema \(found) is older than \(own); grantor migrate brings it up to date"
        default: "schema \(found) is newer than \(own + 1), the newest that this grantor works with; run a newer one"
        }
    }
}
