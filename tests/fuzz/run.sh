#!/bin/bash
# Fuzzes every target for a while, two at a time: `run.sh BUILD_FOLDER SECONDS`. BUILD_FOLDER was set
# up with clang and -Dfuzz=true. Prints a line for each; fails when one found something, which then
# lies in BUILD_FOLDER/found. A find is minimised, becomes a row of testdata/corrupt_*.def, and only
# then is it mended.
set -u
folder=$1
seconds=$2
here=$(dirname "$0")
mkdir -p "$folder/found"

fuzz() {
    local name=$1 work=$folder/grown/$1 log=$folder/fuzz-$1.log
    mkdir -p "$work"
    if "$folder/tests/fuzz/fuzz_$name" -dict="$here/$name.dict" -max_total_time="$seconds" \
        -max_len=8192 -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=512 -print_final_stats=1 \
        -artifact_prefix="$folder/found/$name-" "$work" "$folder/tests/fuzz/corpus/$name" \
        >"$log" 2>&1; then
        echo "ok $name: $(awk '/number_of_executed_units/ { print $2 }' "$log") executions, $(
            grep -o 'cov: [0-9]*' "$log" | tail -n 1)"
    else
        echo "FAILED $name"
        tail -n 40 "$log"
        return 1
    fi
}

failed=0
jobs=()
for program in "$folder"/tests/fuzz/fuzz_*; do
    case $program in *.p) continue ;; esac
    name=${program##*/fuzz_}
    mkdir -p "$folder/tests/fuzz/corpus/$name"
    fuzz "$name" &
    jobs+=($!)
    if [ ${#jobs[@]} -eq 2 ]; then
        for job in "${jobs[@]}"; do wait "$job" || failed=1; done
        jobs=()
    fi
done
for job in "${jobs[@]}"; do wait "$job" || failed=1; done
exit $failed
