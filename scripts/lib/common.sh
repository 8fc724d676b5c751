# Sourced by the scripts beside it: where things are, installing what is missing, building.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Nothing is written outside the build folders, the compiler cache included.
export CCACHE_DIR=${CCACHE_DIR:-$root/build/.ccache}
# ccache reads a source's headers from the compiler's dependency file: a miss is not preprocessed twice.
export CCACHE_DEPEND=1
export npm_config_cache=${npm_config_cache:-$root/build/.npm}
export LC_ALL=C.UTF-8
export PYTHONDONTWRITEBYTECODE=1
# Debian's own: another python3 first in PATH may lack what the packages bring.
python=/usr/bin/python3
[[ -x $python ]] || python=python3

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "$(basename "$0"): $*"
    exit 1
}

# missing_packages GROUP...: the packages of those groups in packages.txt that are not installed.
missing_packages() {
    local package groups group installed wanted
    installed=" $(dpkg-query -W -f='${Package}=${db:Status-Status} ' 2>/dev/null || true)"
    while read -r package groups; do
        [[ $package == '#'* || -z $package ]] && continue
        wanted=
        for group in $groups; do [[ " $* " == *" $group "* ]] && wanted=yes; done
        [[ $wanted ]] || continue
        # A Node from elsewhere has an npm of its own and conflicts with Debian's.
        [[ $package != npm ]] || ! command -v npm >/dev/null || continue
        [[ $installed == *" $package=installed "* ]] || printf '%s\n' "$package"
    done <"$root/scripts/packages.txt"
}

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 \
        "$@" </dev/null >&2
}

# The server that Debian starts with a package which is wanted for its program alone.
server_of() {
    case $1 in
        nginx-light) echo nginx ;;
        prometheus) echo prometheus ;;
        apache2) echo apache2 ;;
        haproxy) echo haproxy ;;
        lighttpd) echo lighttpd ;;
        caddy) echo caddy ;;
        bind9) echo named ;;
        tor-geoipdb) echo tor ;;
        redis-server) echo redis-server ;;
        redis-sentinel) echo redis-sentinel ;;
        etcd-server) echo etcd ;;
    esac
}

# Ends it, for this boot and the next.
stop_server() {
    if [[ -d /run/systemd/system ]]; then
        systemctl disable --now "$1" >&2 || true
    else
        service "$1" stop >&2 || true
        update-rc.d "$1" disable >&2 || true
    fi
}

# install_missing GROUP...: installs what the groups lack; says nothing when nothing is missing.
# Servers that come with it are stopped, those that were there before are left alone.
install_missing() {
    local missing package server servers=()
    command -v dpkg-query >/dev/null || die "this is no Debian; needed: $(tr '\n' ' ' \
        < <(sed 's/#.*//;s/ .*//' "$root/scripts/packages.txt"))"
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]} == 0)) && return
    if ((EUID != 0)); then
        say "Not root, and these packages are missing (wanted for: $*). As root:"
        say "    apt-get update && apt-get install --no-install-recommends ${missing[*]}"
        exit 1
    fi
    for package in "${missing[@]}"; do
        server=$(server_of "$package")
        [[ -z $server || -e /etc/init.d/$server ]] || servers+=("$server")
    done
    say "Installing what is missing (wanted for: $*): ${missing[*]}"
    apt update || say "apt-get update failed; trying with the package lists there are"
    apt install --no-install-recommends "${missing[@]}" || die "could not install: ${missing[*]}"
    for server in "${servers[@]}"; do stop_server "$server"; done
}

# npm has come since this folder was configured: with it, there is the dashboard.
npm_is_new() {
    command -v npm >/dev/null && [[ ! -e $1/.npm-seen ]] && ! grep -q web_assets "$1/build.ninja"
}

# configure DIR OPTION...: a build folder with these options, made once, and as the sources now describe it.
configure() {
    local dir=$root/$1
    local how=(meson setup "$dir" "$root" "${@:2}")
    mkdir -p "$dir"
    # Tests are found when a folder is configured, so another list of them configures it anew.
    if [[ -f $dir/build.ninja ]]; then
        how=(ninja -C "$dir" build.ninja)
        "$python" "$root/tests/sources.py" --is-listed-in "$dir" || how=(meson setup --reconfigure "$dir" "$root")
        ! npm_is_new "$dir" || how=(meson setup --reconfigure "$dir" "$root")
    fi
    flock "$dir" "${how[@]}" >"$dir/configure.log" 2>&1 || {
        cat "$dir/configure.log" >&2
        die "meson could not configure $dir"
    }
    ! command -v npm >/dev/null || touch "$dir/.npm-seen"
    "$python" "$root/tests/sources.py" --configured "$dir"
}

# build DIR TARGET...: ninja, its output shown in full only when it fails.
build() {
    local dir=$root/$1 log=$root/$1/ninja.log
    shift
    if [[ -t 2 ]]; then
        flock "$dir" ninja -C "$dir" "$@" >&2 || die "the build in $dir failed"
    else
        flock "$dir" ninja -C "$dir" "$@" >"$log" 2>&1 || {
            cat "$log" >&2
            die "the build in $dir failed"
        }
    fi
}
