#!/usr/bin/env bash
# Proves that a fresh machine needs nothing but the repository and its network: makes a bare Debian
# 12 (debootstrap, minbase), clones the committed HEAD into it, and runs the README's commands
# there. Says how many seconds each step took.
#   scripts/test-bare-root.sh                 scripts/demo.sh
#   scripts/test-bare-root.sh --test          scripts/test.sh
#   scripts/test-bare-root.sh -- COMMAND…     another command, after scripts/setup.sh
#   --keep FOLDER    keeps the root there, for the next run to use: packages are installed then
# Runs as root (it mounts and enters a root). Status: 0 passed, 1 failed, 77 skipped with the
# reason. The output of each step is kept in build/bare-root/. TMPDIR (default /var/tmp) has the
# root; the demo needs 3 GB there.
#
# All mounts are made in a separate mount namespace, which ends with this script, however it ends.
set -eu
source "$(dirname "$0")/lib/help.sh" "$@"
here=$(cd "$(dirname "$0")/.." && pwd)
suite=bookworm

skip() {
    echo "bare-root: skipped: $1"
    exit 77
}
fail() {
    echo "bare-root: failed: $1" >&2
    exit 1
}

# ---- Inside the namespace. step NAME COMMAND…: runs it, says its seconds, or the end of its output
# and ends the script. Never part of a condition, in which bash would not stop at errors.
figures=()
step() {
    local name=$1 begin=$SECONDS log=$logs/$1.log status=0
    shift
    set +e
    (
        set -e
        "$@"
    ) >"$log" 2>&1 </dev/null
    status=$?
    set -e
    if [ $status -eq 77 ]; then
        skip "$(tail -n 1 "$log")"
    elif [ $status -ne 0 ]; then
        tail -n 40 "$log"
        fail "$name failed after $((SECONDS - begin)) s; see $log"
    fi
    printf 'bare-root: %5d s: %s\n' $((SECONDS - begin)) "$name"
    figures+=("$name $((SECONDS - begin)) s")
}

# The mirror from which this machine gets Debian packages; it may be the only one it can reach.
mirror() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' \
        'Created-By: Packages' 2>/dev/null |
        awk -v suite="$suite" '$2 == suite && $3 == "main" && !uri { uri = $1 }
            END { print uri ? uri : "http://deb.debian.org/debian" }'
}
bootstrap() {
    local from status=0
    from=$(mirror)
    debootstrap --variant=minbase "$suite" "$root" "$from" || status=$?
    # A package that the network lacks is not a failure of the repository.
    if [ "$status" -ne 0 ] && ! have_release; then
        echo "debootstrap reaches no $from/dists/$suite/Release"
        exit 77
    fi
    [ "$status" -eq 0 ]
    touch "$root/.tilec-bare-root"
}
# debootstrap leaves the release file it has read.
have_release() { [ -n "$(find "$root/var/lib/apt/lists" -name '*Release' -size +0 2>/dev/null)" ]; }

# The sources of packages: those of this machine, through the same proxies, if it is a Debian 12;
# else Debian's.
give_sources() {
    local etc=$root/etc/apt codename
    codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    if [ "$codename" = "$suite" ]; then
        rm -f "$etc/sources.list"
        for part in sources.list sources.list.d preferences preferences.d trusted.gpg \
            trusted.gpg.d keyrings; do
            [ ! -e "/etc/apt/$part" ] || cp -rLT "/etc/apt/$part" "$etc/$part"
        done
        mkdir -p "$root/usr/share/keyrings"
        cp -rLT /usr/share/keyrings "$root/usr/share/keyrings"
    else
        for part in "debian $suite" "debian $suite-updates" "debian-security $suite-security"; do
            echo "deb http://deb.debian.org/$part main"
        done >"$etc/sources.list"
    fi
    # apt hooks of this machine's programs are left out: the root does not have the programs.
    apt-config dump | { grep -E '^Acquire::(https?|Check-[A-Za-z-]+)(::| )' || true; } \
        >"$etc/apt.conf.d/90host"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    # Reading https sources needs certificates; a machine with https sources has them.
    if grep -rqsE '^[^#]*https://' "$etc/sources.list" "$etc/sources.list.d"; then
        mkdir -p "$root/etc/ssl"
        cp -rLT /etc/ssl/certs "$root/etc/ssl/certs"
    fi
}

# Only the commit: files of this folder that are not committed are left out.
clone() {
    rm -rf "$root/srv/tilec" "$root/srv/shared"
    git clone -q --no-hardlinks "$here" "$root/srv/tilec"
    git -C "$root/srv/tilec" checkout -q --detach "$(git -C "$here" rev-parse HEAD)"
    if [ -d "$here/../shared" ]; then
        mkdir "$root/srv/shared"
        mount --bind "$here/../shared" "$root/srv/shared"
        mount -o remount,bind,ro "$root/srv/shared"
    fi
}

mount_all() {
    mount -t proc proc "$root/proc"
    mkdir -p "$root/dev/shm" "$root/dev/pts"
    mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
}

# there COMMAND…: runs it in the clone, without this machine's environment except network access.
there() {
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
        ${no_proxy:+"no_proxy=$no_proxy"} \
        chroot "$root" sh -c 'cd /srv/tilec && exec "$@"' sh "$@"
}

inside() {
    root=$1 logs=$2
    local kept='' presets=$3 targets=$4 preset
    shift 4
    if [ -e "$root/.tilec-bare-root" ]; then
        kept=', in a root that earlier runs have filled'
    else
        step debootstrap bootstrap
    fi
    step sources give_sources
    step clone clone
    step mounts mount_all
    # The command does this first anyway; it is run alone only to be timed.
    step set-up there scripts/setup.sh
    sed -n 's/^setup: left out */bare-root:          without /p' "$logs/set-up.log"
    for preset in $presets; do
        # shellcheck disable=SC2086
        step "build-$preset" there scripts/build.sh "$preset" $targets
    done
    step command there "$@"
    tail -n 3 "$logs/command.log"
    echo "bare-root: passed: $* on a bare Debian $(cat "$root/etc/debian_version")$kept:" \
        "$(printf '%s, ' "${figures[@]}" | sed 's/, $//'); the root takes" \
        "$(du -shx "$root" 2>/dev/null | cut -f1)"
}
if [ "${1:-}" = --inside ]; then
    shift
    inside "$@"
    exit
fi

# ---- Outside
# The presets that the command builds; they are built before it to be timed.
presets=release
targets=
command=(scripts/demo.sh)
keep=
while [ $# -gt 0 ]; do
    case $1 in
    --test)
        presets='debug release'
        targets=commit_tests
        command=(scripts/test.sh)
        ;;
    --keep)
        keep=${2:-}
        [ -n "$keep" ] || fail "--keep needs a folder"
        shift
        ;;
    --)
        shift
        [ $# -gt 0 ] || fail "no command after --"
        presets=
        command=("$@")
        break
        ;;
    *) fail "unknown option '$1'; see the head of this file" ;;
    esac
    shift
done

PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" -eq 0 ] || skip "not root: sudo scripts/test-bare-root.sh"
for tool in debootstrap git unshare chroot; do
    package=$tool
    [ "$tool" != unshare ] || package=util-linux
    [ "$tool" != chroot ] || package=coreutils
    command -v $tool >/dev/null ||
        skip "no $tool: apt-get install --no-install-recommends $package"
done
git -C "$here" rev-parse -q --verify HEAD >/dev/null || skip "no git repository to clone"
[ -z "$(git -C "$here" status --porcelain 2>/dev/null)" ] ||
    echo "bare-root: what is not committed is not tested"
namespace=(unshare --mount --pid --fork --kill-child --mount-proc --propagation private)
"${namespace[@]}" true 2>/dev/null || skip "no right to make a mount namespace (unshare)"

base=${TMPDIR:-/var/tmp}
if [ -n "$keep" ]; then
    mkdir -p "$keep"
    root=$(cd "$keep" && pwd)
    base=$root
    if [ ! -e "$root/.tilec-bare-root" ] && [ -n "$(ls -A "$root")" ]; then
        fail "$keep is neither empty nor a root that this script made"
    fi
fi
gigabytes=$(($(df -Pk "$base" | awk 'NR == 2 { print $4 }') / 1000000))
[ $gigabytes -ge 8 ] || skip "$gigabytes GB free in $base, which is too little: set TMPDIR"
[ -n "$keep" ] || root=$(mktemp -d "$base/tilec-bare-root-XXXXXX")
chmod 755 "$root"

# The namespace and its mounts are gone when this runs; --one-file-system is a precaution.
child=
clean() {
    if [ -n "$child" ]; then
        kill -KILL "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    fi
    # Processes of the namespace may take a moment to end, and may write until then.
    [ -n "$keep" ] || rm -rf --one-file-system "$root" || {
        sleep 2
        rm -rf --one-file-system "$root"
    }
}
trap clean EXIT
trap 'exit 1' INT TERM HUP
logs=$here/build/bare-root
mkdir -p "$logs"
rm -f "$logs"/*.log
# In the background, so that this shell hears a signal while it waits.
"${namespace[@]}" bash "$here/scripts/test-bare-root.sh" --inside "$root" "$logs" "$presets" \
    "$targets" "${command[@]}" &
child=$!
status=0
wait $child || status=$?
child=
[ -z "$keep" ] || echo "bare-root: the root is kept in $keep"
case $status in
0 | 77) exit $status ;;
*) exit 1 ;;
esac
