#!/bin/sh
# Installs into a fresh folder, builds consumer.c with what is there, and runs both programs.
#   installed.sh BUILD_FOLDER SOURCE_FOLDER TENON_GEN CC
set -eu
build=$1 source=$2 gen=$3 cc=$4

command -v pkg-config >/dev/null || { echo 'pkg-config is missing'; exit 77; }
root=$(mktemp -d "$PWD/installed.XXXXXX")
trap 'rm -rf "$root"' EXIT INT TERM
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet >/dev/null

pc=$(find "$root" -name tenon.pc)
prefix=$(sed -n 's/^prefix=//p' "$pc")
lib=$root$(pkg-config --variable=libdir "$pc")
export PKG_CONFIG_PATH="${pc%/*}" LD_LIBRARY_PATH="$lib"

# The folder stands for the file system's root.
flags=$(pkg-config --define-variable=prefix="$root$prefix" --cflags --libs tenon)
# shellcheck disable=SC2086 # one word for each flag
$cc -std=c11 -Wall -Wextra -Werror -o "$root/consumer" "$source/tests/install/consumer.c" $flags

mkdir "$root/sample"
"$gen" tied_gguf "$root/sample/tied.gguf"
"$root/consumer" "$root/sample/tied.gguf" 1
status=0
"$root/consumer" "$root/sample/tied.gguf" 40 2>/dev/null || status=$?
[ "$status" -eq 2 ] || { echo "an id outside gave $status"; exit 1; }

"$root$prefix/bin/tenon" --version
"$root$prefix/bin/tenon" embed "$root/sample/tied.gguf" --ids 1 >/dev/null

# Everything stands where distributions look for it.
for file in bin/tenon include/tenon/tenon.h include/tenon/errors.def \
    share/bash-completion/completions/tenon share/fish/vendor_completions.d/tenon.fish \
    share/zsh/site-functions/_tenon; do
    [ -s "$root$prefix/$file" ] || { echo "$file is not installed"; exit 1; }
done
bash -n "$root$prefix/share/bash-completion/completions/tenon"
if command -v scdoc >/dev/null; then
    for page in man1/tenon.1 man5/tenon.5; do
        [ -s "$root$prefix/share/man/$page" ] || { echo "$page is not installed"; exit 1; }
    done
fi
