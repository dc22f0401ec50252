#!/usr/bin/env bash
# Makes the passwords that docker-compose.yml needs, in config/secrets. Existing ones stay as they are.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Containers run as other users than this one, so all may read the files, and only their owner may enter the folder.
mkdir -p config/secrets
chmod 700 config/secrets
for name in ledger-password ledger-operator-password ledger-owner-password; do
    file="config/secrets/$name"
    if [ -s "$file" ]; then
        printf '%s: exists, and stays as it is\n' "$file"
        continue
    fi
    head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$file"
    chmod 444 "$file"
    printf '%s: made\n' "$file"
done
