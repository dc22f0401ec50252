import Foundation
import Glibc

/// CPU time by the processes that used it, in seconds since each began.
struct CPUTimes {
    /// The parts of the system that are measured apart.
    enum Part: String, CaseIterable {
        case worker, postgres, broker, apple, bench
    }

    private(set) var parts: [Part: Double]
    /// Of the whole machine, without what its host took away.
    private(set) var machine: Double

    /// The time of each part's processes by now: the roots, and all their descendants.
    static func now(of roots: [Part: [pid_t]]) -> CPUTimes {
        let processes = ProcessTable()
        var parts = roots.mapValues { $0.reduce(0) { $0 + processes.seconds(below: $1) } }
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        parts[.bench] = usage.ru_utime.seconds + usage.ru_stime.seconds
        return CPUTimes(parts: parts, machine: ProcessTable.machineSeconds)
    }

    static func - (late: CPUTimes, early: CPUTimes) -> CPUTimes {
        CPUTimes(
            parts: late.parts.merging(early.parts) { $0 - $1 }, machine: late.machine - early.machine)
    }

    subscript(part: Part) -> Double { parts[part] ?? 0 }

    /// The share of the machine's time that was none of these parts'.
    var othersShare: Double {
        machine > 0 ? max(0, machine - parts.values.reduce(0, +)) / machine : 0
    }
}

extension timeval {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1_000_000 }
}

/// The processes of this moment (proc(5)).
private struct ProcessTable {
    private var children: [pid_t: [pid_t]] = [:]
    private var ticks: [pid_t: Double] = [:]
    private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    init() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let pid = pid_t(name), let fields = Self.fields(of: pid) else { continue }
            children[fields.parent, default: []].append(pid)
            ticks[pid] = fields.ticks
        }
    }

    /// With the time of children that have ended and were waited for.
    private static func fields(of pid: pid_t) -> (parent: pid_t, ticks: Double)? {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return nil }
        // The name in parentheses may hold spaces.
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 14, let parent = pid_t(fields[1]) else { return nil }
        return (parent, fields[11...14].reduce(0) { $0 + (Double($1) ?? 0) })
    }

    func seconds(below root: pid_t) -> Double {
        (ticks[root] ?? 0) / Self.ticksPerSecond
            + (children[root] ?? []).reduce(0) { $0 + seconds(below: $1) }
    }

    static var machineSeconds: Double {
        let stat = try? String(contentsOfFile: "/proc/stat", encoding: .utf8)
        let fields = stat?.prefix { $0 != "\n" }.split(separator: " ").dropFirst().compactMap { Double($0) } ?? []
        guard fields.count > 6 else { return 0 }
        // user, nice, system, irq, softirq
        return (fields[0] + fields[1] + fields[2] + fields[5] + fields[6]) / ticksPerSecond
    }
}
