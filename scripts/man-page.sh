#!/usr/bin/env bash
# Prints grantor(1), made from the program's own help, so that it says what the program says.
#
#   scripts/man-page.sh PROGRAM YYYY-MM-DD >grantor.1
set -euo pipefail

[ $# -eq 2 ] || { sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 64; }
program="$1" day="$2"

# Turns the help of a command into man(7).
# shellcheck disable=SC2016
to_man='
function safe(text) { gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); return text ~ /^[.\x27]/ ? "\\&" text : text }
/^  [^ ].*detailed help\.$/ { next }
/^USAGE: / { if (words != "grantor") print ".PP\n.B " safe(substr($0, 8)); section = "USAGE"; next }
/^[A-Z]+:$/ { section = $1; next }
section == "SUBCOMMANDS:" || $0 == "" && section != "" { next }
section == "" { sub(/^OVERVIEW: /, ""); print $0 == "" ? ".PP" : safe($0); next }
/^  [^ ]/ {
    label = substr($0, 3); text = ""
    if (match(label, /  +/)) { text = substr(label, RSTART + RLENGTH); label = substr(label, 1, RSTART - 1) }
    skip = words != "grantor" && (label == "--version" || label ~ /^-h, /)
    if (!skip) print ".TP\n.B " safe(label) (text == "" ? "" : "\n" safe(text))
    next
}
!skip { sub(/^ +/, ""); print safe($0) }
'

# A command, and those below it.
describe() {
    local help name
    help="$("$program" "${@:2}" --help)"
    if [ $# -eq 1 ]; then
        awk -v words="$*" "$to_man" <<<"$help"
        printf '.SH COMMANDS\n'
    elif [[ "$help" != *SUBCOMMANDS:* ]]; then
        # A group has nothing to say but its commands.
        printf '.SS %s\n' "$*"
        awk -v words="$*" "$to_man" <<<"$help"
    fi
    for name in $(awk '/^SUBCOMMANDS:/ { on = 1; next } on && /^  [a-z]+  / { print $1 }' <<<"$help"); do
        describe "$@" "$name"
    done
}

printf '.TH GRANTOR 1 %s "Grantor %s" "Grantor"\n' "$day" "$("$program" --version)"
cat <<'MAN'
.SH NAME
grantor \- turn App Store payments into granted purchases
.SH SYNOPSIS
.B grantor
.I subcommand
.RI [ options ]
.br
.B grantor\-admin
.I subcommand
.RI [ options ]
.SH DESCRIPTION
MAN
describe grantor
cat <<'MAN'
.SH ENVIRONMENT
Variables that begin with
.B GRANTOR_
are settings. configuration.md explains each one.
.SH FILES
The package for Debian has these.
.TP
.I /etc/grantor/grantor.env
The settings of the service and of
.BR grantor\-admin .
.B grantor\-admin
runs any command as the service does: as the user grantor, with these settings.
.TP
.I /etc/grantor/apps.yaml
The apps and their rules. You make it; apps.example.yaml is its pattern.
.TP
.I /var/lib/grantor
A ledger on SQLite.
.TP
.I /usr/share/doc/grantor
README.md, symptoms.md, procedures.md, support.md and other pages, with examples.
MAN
