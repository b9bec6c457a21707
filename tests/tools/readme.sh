#!/bin/sh
# Runs the commands of the README's console blocks and compares what they print.
#
#     readme.sh README.md TENON TENON_GEN [--update]
#
# A block is fenced by ```console; a line "$ tenon ..." is a command, the lines up to the next one
# what it prints, standard error after standard output. With --update the page is rewritten with
# what the commands print now; read the difference before committing it.
set -eu

page=$(realpath "$1")
tenon=$(realpath "$2")
gen=$(realpath "$3")
update=${4:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The files that the page speaks of.
mkdir "$folder/models"
cd "$folder/models"
"$gen" tied_gguf model.gguf >/dev/null
"$gen" untied_safetensors untied.safetensors >/dev/null
"$gen" contradict_hf merged >/dev/null
"$gen" tied_hf original >/dev/null
head -c 5000 model.gguf >partial.gguf

tenon() {
    "$tenon" "$@"
}

# Reads the page, writes it with the commands' real output.
in_block=false
while IFS= read -r line; do
    case $in_block:$line in
    false:'```console')
        in_block=true
        printf '%s\n' "$line"
        ;;
    true:'```')
        in_block=false
        printf '%s\n' "$line"
        ;;
    true:'$ tenon '*)
        printf '%s\n' "$line"
        command=${line#'$ '}
        eval "$command" >"$folder/out" 2>"$folder/err" </dev/null || true
        cat "$folder/out" "$folder/err"
        ;;
    true:*) ;;
    *)
        printf '%s\n' "$line"
        ;;
    esac
done <"$page" >"$folder/page"

if [ "$update" = --update ]; then
    cat "$folder/page" >"$page"
    exit 0
fi
grep -q '^\$ tenon ' "$page"
diff -u "$page" "$folder/page"
