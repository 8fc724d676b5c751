#!/usr/bin/env bash
# try_package.sh PACKAGE: installs it in a clean Debian 12, runs both daemons on virtual ports there, and removes it.
# Ends with `package: ok`.
set -euo pipefail
package=$(realpath "$1")
clean=$(mktemp -d)
pids=()
finish() {
    local pid place
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait "${pids[@]}" || true
    for place in dev/shm proc sys; do mountpoint -q "$clean/$place" && umount "$clean/$place"; done
    rm -rf --one-file-system "$clean"
}
trap finish EXIT

within() {
    chroot "$clean" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
# A daemon, whose own process id is kept.
begin() {
    (exec chroot "$clean" "$@" >"$clean/tmp/$1.log" 2>&1) &
    pids+=($!)
}
wait_for() {
    local what=$1 turns=0
    shift
    until "$@" >/dev/null 2>&1; do
        ((turns++ < 300)) || { echo "package: waited for $what" >&2 && cat "$clean"/tmp/*.log >&2 && exit 1; }
        sleep 0.1
    done
}

# The package comes in while the lists of packages are there.
mmdebstrap --variant=minbase --quiet --include=systemd,man-db --dpkgopt='path-include=/usr/share/man/*' \
    --customize-hook="cp '$package' \"\$1/tmp/sluice.deb\"" \
    --customize-hook='chroot "$1" apt-get -q -y install --no-install-recommends /tmp/sluice.deb' bookworm "$clean"
mount -t proc proc "$clean/proc"
mount -t sysfs -o ro sysfs "$clean/sys"
mkdir -p "$clean/dev/shm"
mount -t tmpfs tmpfs "$clean/dev/shm"
within getent passwd sluice >/dev/null

echo "== what is there"
within sluicectl --version
within sluicectl check /etc/sluice/rules.yaml
within sluicectl box-config /etc/sluice/sluice.yaml >/dev/null
within systemd-analyze verify /usr/lib/systemd/system/sluice-dataplane.service /usr/lib/systemd/system/sluiced.service
for page in sluice.7 sluice-rules.5 sluice.yaml.5 sluicectl.1 sluiced.8 sluice-dataplane.8 sluice-dashboard.7 sluice-cluster.7; do
    within man --pager=cat "${page##*.}" "${page%.*}" | head -1 | grep -q . || { echo "package: no $page" >&2 && exit 1; }
done
for file in bash-completion/completions/sluicectl zsh/vendor-completions/_sluicectl \
    fish/vendor_completions.d/sluicectl.fish sluice/rules.schema.json sluice/sluice.schema.json \
    doc/sluice/FAILURES.md doc/sluice/manual.html doc/sluice/dashboard-copyright.txt; do
    within test -s "/usr/share/$file" || { echo "package: no $file" >&2 && exit 1; }
done
for example in "$(dirname "${BASH_SOURCE[0]}")"/../../control/examples/*.yaml; do
    within sluicectl check "/usr/share/doc/sluice/examples/${example##*/}"
done

# The dashboard wants Node to be built, not to run.
for program in node npm; do
    ! within which "$program" || { echo "package: brings $program" >&2 && exit 1; }
done

echo "== both daemons"
within systemd-tmpfiles --create /usr/lib/tmpfiles.d/sluice.conf
cat >"$clean/etc/sluice/sluice.yaml" <<'END'
version: 1
ports: [{name: lab, outside: {device: net_null0}, inside: {device: net_null1}}]
workers: {lcores: "0@0,1@1", idle_sleep: 1ms}
memory: {hugepages: none, mbufs: 8k, tables: {keys: 4096}}
user: sluice
rules: /etc/sluice/rules.yaml
web: {listen: "127.0.0.1:18480"}
END
begin sluice-dataplane --config /etc/sluice/sluice.yaml
begin sluiced --config /etc/sluice/sluice.yaml --user sluice
wait_for "both daemons" within sluicectl health
within sluicectl apply /etc/sluice/rules.yaml
within sluicectl stats

echo "== the dashboard"
exec 3<>/dev/tcp/127.0.0.1/18480
printf 'GET / HTTP/1.1\r\nHost: 127.0.0.1:18480\r\nConnection: close\r\n\r\n' >&3
answer=$(timeout 10 cat <&3)
exec 3>&-
[[ $answer == "HTTP/1.1 200 "* && $answer == *"<script "* ]] || { echo "package: the dashboard answers: ${answer:0:300}" >&2 && exit 1; }

echo "== removed"
kill "${pids[@]}"
wait "${pids[@]}"
pids=()
within apt-get -q -y purge sluice
left=$(within find / -xdev -name '*sluice*' -not -path '/proc/*' -not -path '/tmp/*' -not -path '/var/lib/dpkg/*' -not -path '/var/log/*' -not -path '/var/cache/*')
[[ -z $left ]] || { printf 'package: left behind:\n%s\n' "$left" >&2 && exit 1; }
echo "package: ok"
