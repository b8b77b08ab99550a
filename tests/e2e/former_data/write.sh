#!/usr/bin/env bash
# Writes a data directory with the program of commit 85b147cc: write.sh CONCORD FOLDER
set -euo pipefail
concord=$1 folder=$2
export CONCORD_DATA=$folder/data CONCORD_PASSPHRASE="correct horse battery staple"
export XDG_CONFIG_HOME=$folder/config CONCORD_STATE=$folder/state.json
mkdir -p "$folder"; cd "$folder"
"$concord" --data "$CONCORD_DATA" up --port 0 > up.log 2>&1 & up=$!
for _ in $(seq 60); do grep -q "127.0.0.1" up.log && "$concord" status > /dev/null 2>&1 && break; sleep 1; done
c() { "$concord" "$@"; }
c add "Our office is in Hamburg." --id office-1 --tag place
c add "Our office is in Bremen now." --id office-2 --supersedes office-1
c add "Lunch is at noon." --id lunch
c update lunch --content "Lunch is at one."
c add "My phone number is 12345." --id secret
c erase secret --yes
c add "Forget me." --id gone; c forget gone
c relation LIVES_IN --functional
c link Ada LIVES_IN Hamburg --valid-from 2014-01-01
c link Ada LIVES_IN Bremen --valid-from 2018-01-01
c link Ada KNOWS Bo
c add "Bo works at Acme." --id job --fact "Bo|WORKS_AT|Acme"
c say talk Ada "I moved to Bremen."
c episode deploy --reward 1
c hold "Call Bo." || true
c principal create --slot agent --name helper > card.txt
c principal create --slot human --name ada >> card.txt
c principal enrol > genesis.txt
c propose set helper VALUES honesty --constitutive
c review 1 --as agent > /dev/null; c approve 1 --as agent
c review 1 > /dev/null; c approve 1 --as human
c propose set helper VALUES speed --constitutive
c export state.jsonl
c audit export log.jsonl
c status
kill -TERM $up; wait $up || true
tar -cJf data.tar.xz data/graph/graph.db data/governance/ledger.db data/credentials.json data/keys state.jsonl log.jsonl
