# Read by tools/demo, tools/check and .ci/run: installs what is missing, builds. Expects to run at
# the top of the tree. Sets build (the build folder, TENON_BUILD_DIR or "build").

build=${TENON_BUILD_DIR:-build}
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac

# What building takes, and what testing takes beyond that; Debian's names.
build_packages='gcc libc6-dev libcjson-dev libxxhash-dev meson ninja-build pkg-config python3'
test_packages='binutils check g++ libjpeg-dev libpng-dev scdoc universal-ctags'

say() {
    printf '%s\n' "$*" >&2
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# Installs those of the named packages that are not installed.
ensure_packages() {
    missing=
    if ! command -v dpkg-query >/dev/null; then
        say "tools/setup.sh: not a Debian system; make sure that these are there: $*"
        return
    fi
    for package; do
        case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
        *' installed') ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    say "installing:$missing"
    as_root apt-get -q update >&2
    # shellcheck disable=SC2086 # one word for each package
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends \
        $missing >&2
}

# Configures, again if it was for something else ($1: "demo" or "check") and other packages may have
# come since, and builds: all, or the targets that follow.
build_tree() {
    if [ ! -f "$build/build.ninja" ]; then
        meson setup "$build" >&2
    elif [ ! -f "$build/set-up-for-$1" ]; then
        meson setup --reconfigure "$build" >&2
    fi
    : >"$build/set-up-for-$1"
    shift
    ninja -C "$build" "$@" >&2
}
