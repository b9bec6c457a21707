#!/bin/sh
# there_and_back.sh TENON TENON_GEN   every sample, in the other container and back, is the same model
# but for what one of the containers cannot say; one thread and two write the same bytes. A sample
# that the other container cannot hold is refused with the tensor that it is about. The last line
# counts.
set -eu

tenon=$(realpath "$1")
gen=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir in
done=0 refused=0 failed=0

fail() {
    echo "$1: $2"
    failed=$((failed + 1))
}

# convert IN OUT [OPTION...]   with an architecture of no meaning where there must be one.
convert() {
    from=$1 to=$2
    shift 2
    "$tenon" convert "$from" -o "$to" --drop-metadata --no-sync -q "$@" 2>said && return
    grep -q -e '--arch' said || return 1
    "$tenon" convert "$from" -o "$to" --drop-metadata --no-sync -q --arch none --force "$@" 2>said
}

# What may differ: the architecture that a GGUF file must name, keys about a set of files, and arrays
# of arrays, which have no form as text.
same_model() {
    "$tenon" diff "$1" "$2" >answer || [ $? -eq 1 ] || return 1
    ! grep -v -e '^[+] key general\.architecture: ' -e '^- key split\.' -e '^- key nested: ' \
        -e '^$' answer |
        grep -v -E '^(same|different): ([0-9]+) of \2 corresponding tensors .*' &&
        ! grep -q -E ' [1-9][0-9]* changed$' answer
}

for sample in $("$gen" --list | cut -f 1); do
    "$gen" "$sample" "in/$sample" >/dev/null
    case $sample in
    *_gguf) there=safetensors back=gguf ;;
    *) there=gguf back=safetensors ;;
    esac
    if ! convert "in/$sample" "there.$there" -j 1; then
        grep -q -E "^tenon: .*tensor '" said || fail "$sample" "$(cat said)"
        refused=$((refused + 1))
        continue
    fi
    done=$((done + 1))
    convert "in/$sample" "again.$there" -j 2 || fail "$sample" "$(cat said)"
    cmp "there.$there" "again.$there" || fail "$sample" "is not the same with two threads"
    convert "there.$there" "back.$back" || fail "$sample" "does not come back: $(cat said)"
    same_model "in/$sample" "back.$back" || fail "$sample" "came back as another: $(cat answer)"
    rm -f there.* again.* back.*
done
echo "$done samples there and back, $refused refused, $failed failures"
[ "$done" -ge 50 ] && [ "$failed" -eq 0 ]
