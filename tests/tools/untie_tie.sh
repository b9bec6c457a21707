#!/bin/sh
# untie_tie.sh TENON TENON_GEN   every tied sample, untied, is understood as two equal matrices, and
# tied again it is the same files, byte for byte. The last line counts.
set -eu

tenon=$(realpath "$1")
gen=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir in untied tied
done=0 failed=0

fail() {
    echo "$1: $2"
    failed=$((failed + 1))
}

# member NAME JSON   the value of a member that stands on a line of its own.
member() {
    sed -n "s/^  \"$1\": \"\\{0,1\\}\\([a-z_]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" "$2"
}

judge() {
    "$tenon" tied --json --no-groups "$1" >answer 2>/dev/null || true
    echo "$(member verdict answer) $(member consistent answer)"
}

# --force: families that refuse the copy must come back, too.
for sample in $("$gen" --list | cut -f 1); do
    [ "$sample" != tied_v1_gguf ] || continue # nothing writes version 1
    mkdir "in/$sample"
    "$gen" "$sample" "in/$sample" >/dev/null 2>&1 || {
        rmdir "in/$sample"
        "$gen" "$sample" "in/$sample" >/dev/null
    }
    [ "$(judge "in/$sample")" = "absent true" ] || continue
    done=$((done + 1))
    if ! "$tenon" untie "in/$sample" -o "untied/$sample" --force -q --verify; then
        fail "$sample" "cannot be untied"
        continue
    fi
    answer=$(judge "untied/$sample")
    [ "$answer" = "identical true" ] || fail "$sample" "untied, it is $answer"
    "$tenon" tie "untied/$sample" -o "tied/$sample" --force -q --verify ||
        fail "$sample" "cannot be tied"
    diff -r "in/$sample" "tied/$sample" || fail "$sample" "is another file now"
    # In place, a folder and a file alike.
    "$tenon" tie "untied/$sample" --in-place --force -q || fail "$sample" "cannot be tied in place"
    diff -r "in/$sample" "untied/$sample" || fail "$sample" "in place is another file now"
done
find . -name '*.tmp*' | grep . && fail "$folder" "unfinished files"
echo "$done samples untied and tied again, $failed failures"
[ "$done" -ge 20 ] && [ "$failed" -eq 0 ]
