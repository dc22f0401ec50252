import ChildProcesses
import Glibc

/// The scripts that start servers, break them, and clean up behind them.
enum PostgresScripts {
    /// A cluster that has never run, for servers to copy; made once in a process.
    static let template = Result { try start(making) }

    /// Starts a script, which ends after the end of its input. PostgreSQL refuses to run as root, so root starts it as
    /// the user `postgres`, who may not be able to enter this process's folder.
    /// - Parameter variables: Added to this process's environment.
    /// - Returns: The script, and the folder that it has made once all is ready.
    static func start(
        _ script: String, _ variables: [String: String] = [:]
    ) throws -> (script: ChildProcess, folder: String) {
        let user = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        let words = ["/usr/bin/env", "--chdir=/"] + (geteuid() == 0 ? user : []) + ["/bin/sh", "-c", script]
        guard let process = ChildProcess(words, environment: variables) else {
            throw PostgresServer.Failure(description: "no script can be started: errno \(errno)")
        }
        let folder = process.readLine() ?? ""
        guard folder.hasPrefix("/") else {
            throw PostgresServer.Failure(description: "PostgreSQL did not start: \(folder)")
        }
        return (process, folder)
    }

    /// Both begin so. A script prints its folder once all is ready, and else the fault. It then waits for the end of
    /// its input, also where a terminal interrupts everybody or closes.
    ///
    /// Each test has a database of some 300 files. Where many files were just removed, ext4 searches long for room for
    /// new ones: that took half of the CPU of all tests.
    private static let beginning = """
        trap '' HUP INT QUIT TERM
        bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
        [ -n "$bin" ] || { echo "it is not installed; scripts/setup.sh --for test does that"; exit 1; }
        folder=$(mktemp -d "${BELOW:-/dev/shm}/grantor-postgres-XXXXXX") || exit 1
        cd "$folder"
        trap 'cd /; rm -rf "$folder"' EXIT
        fail() { tail -n 5 log | tr '\\n' ' '; exit 1; }
        export LC_ALL=C

        """

    private static let making =
        beginning + """
            "$bin/initdb" -D data -U postgres -A trust -E UTF8 --locale=C -N >log 2>&1 </dev/null || fail
            echo "$folder"
            read -r _
            """

    // A cluster can be a standby once it has run with what standbys need, and it has then to be stopped in order.
    static let serving =
        beginning + """
            control() { "$bin/pg_ctl" -D data -l log -w -t 180 "$@" >/dev/null 2>&1 </dev/null; }
            configure() {
                printf "%s\\nunix_socket_directories = '%s'\\n" "$SETTINGS" "$folder" >>data/postgresql.conf
                echo "$RULES
            local replication all trust
            local all guarded scram-sha-256
            local all all trust
            hostssl all all 127.0.0.1/32 scram-sha-256" >data/pg_hba.conf
            }
            # The server's processes, itself first: a frozen one starts no others.
            everybody() {
                server=$(head -n 1 data/postmaster.pid 2>/dev/null) || return
                echo "$server" $(ps -o pid= --ppid "$server")
            }
            killed() {
                all=$(everybody)
                kill -9 $all 2>/dev/null
                for one in $all; do while kill -0 "$one" 2>/dev/null; do sleep 0.05; done; done
                true
            }
            followed() {
                killed
                find data/ -mindepth 1 -delete
                "$bin/pg_basebackup" -D data -h "$1" -p "$2" -U postgres -R -X stream -c fast --no-sync >>log 2>&1 \\
                    </dev/null || return 1
                sed -i /synchronous_standby_names/d data/postgresql.auto.conf
                configure && control start
            }
            if [ -n "$DISK" ]; then
                mkdir -m 700 "$DISK/data" && ln -s "$DISK/data" data || fail
            else
                mkdir -m 700 data || fail
            fi
            cp -a "$TEMPLATE/data/." data/ || fail
            configure
            if [ -n "$NETWORK" ]; then
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \\
                    -addext subjectAltName=DNS:localhost -keyout key -out certificate >log 2>&1 </dev/null || fail
                if [ -n "$EXPIRED" ]; then
                    openssl x509 -in certificate -signkey key -days 0 -out expired >log 2>&1 </dev/null || fail
                    mv expired certificate
                fi
                chmod 0755 . && chmod 0644 certificate && chmod 0600 key
            fi
            if [ -n "$STANDBY" ]; then
                control start && control -m fast stop && touch data/standby.signal || fail
            fi
            control start || fail
            echo "$folder"
            while read -r word one two; do
                case "$word" in
                kill) killed ;;
                crash) control -m immediate stop ;;
                restart) control -m fast restart ;;
                start) control status || control start || { sleep 1; control start; } ;;
                # One that has ended meanwhile is none to stop.
                freeze) kill -STOP $(everybody) 2>/dev/null || true ;;
                thaw) kill -CONT $(everybody) 2>/dev/null || true ;;
                hold) kill -STOP "$one" ;;
                follow) followed "$one" "$two" ;;
                promote) control promote ;;
                *) false ;;
                esac && echo done || echo "failed: $(tail -n 3 log | tr '\\n' ' ')"
            done
            kill -CONT $(everybody) 2>/dev/null
            control -m immediate stop
            """
}
