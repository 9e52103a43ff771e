#!/bin/sh
# A Ropeway edge behind Caddy, as services, on Debian 12 or newer. As root, with the file that `npm run package` makes:
#
#   sh install.sh --host ropeway.example [SITES] [CERTIFICATES] ropeway-0.1.0.tgz
#
# SITES get hosts below the wildcard *.ropeway.example. Where there is none:
#   --slots LIST         from a list, 's[01-24].ropeway.example' say; --slots '' goes back to the wildcard
# CERTIFICATES are one of
#   --dns PROVIDER       Caddy gets them, by DNS; the provider's token in DNS_TOKEN (caddyserver.com/docs/modules)
#   --cert FILE --key FILE, for all names
#   --internal           Caddy's own authority, which no phone trusts: for a trial
# With a list none is needed: Caddy gets each name's over port 80.
#
#   --deno               the edge on Deno, in place of the package: run it from a clone in /opt/ropeway/repository
#   --into DIRECTORY     only writes the settings, below DIRECTORY
#
# Run it again with a newer package to update: the key, the list and the certificates stay, and phones stay
# paired.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
host='' slots=kept dns='' cert='' key='' internal='' package='' into='' service=ropeway other=ropeway-deno

fail() {
  echo "Cannot install: $1" >&2
  exit 1
}

# The names of a list, as the edge reads ROPEWAY_SLOT_HOSTS, one to a line.
names() {
  echo "$1" | tr -s ', ' '\n\n' | awk -F '[][]' '
    NF == 1 { print }
    NF == 3 && split($2, range, "-") == 2 {
      for (n = range[1] + 0; n <= range[2] + 0; n++) printf("%s%0" length(range[1]) "d%s\n", $1, n, $3)
    }'
}

write_settings() {
  umask 022
  mkdir -p "$into/etc/ropeway" "$into/etc/caddy"
  # What is written anew keeps the mode that it had.
  for secret in key.env dns.env; do
    [ ! -f "$into/etc/ropeway/$secret" ] || chmod 600 "$into/etc/ropeway/$secret"
  done
  if [ "$slots" = kept ]; then
    slots=$(sed -n 's/^ROPEWAY_SLOT_HOSTS="\(.*\)"$/\1/p' "$into/etc/ropeway/host.env" 2>/dev/null || true)
  fi
  listed=$(names "$slots")
  [ -z "$slots" ] || echo "$listed" | grep -q . || fail "--slots $slots names no host"
  ! echo "$listed" | grep -v '^[A-Za-z0-9.-]*$' >&2 || fail "--slots has what is no name"
  if [ ! -s "$into/etc/ropeway/key.env" ]; then
    (umask 077 && echo "ROPEWAY_ACCESS_KEY=$(openssl rand -hex 32)" >"$into/etc/ropeway/key.env")
  fi
  tls=$into/etc/ropeway/tls.caddy
  if [ -n "$dns" ]; then
    [ -n "${DNS_TOKEN-}" ] || fail "set DNS_TOKEN to the token of $dns"
    (umask 077 && echo "DNS_TOKEN=$DNS_TOKEN" >"$into/etc/ropeway/dns.env")
    printf 'tls {\n\tdns %s {env.DNS_TOKEN}\n}\n' "$dns" >"$tls"
  elif [ -n "$cert" ] && [ -n "$key" ]; then
    install -m 644 "$cert" "$into/etc/ropeway/cert.pem"
    install -m 600 "$key" "$into/etc/ropeway/key.pem"
    echo 'tls /etc/ropeway/cert.pem /etc/ropeway/key.pem' >"$tls"
  elif [ -n "$internal" ]; then
    echo 'tls internal' >"$tls"
  elif [ -n "$listed" ]; then
    [ -s "$tls" ] || echo '# Each name has its own, over port 80: Caddy sees to that.' >"$tls"
  else
    grep -q '^tls' "$tls" 2>/dev/null || fail "say where the certificates come from: --dns, --cert and --key, or --internal"
  fi
  # Caddy's: each name by itself.
  all=$(printf '%s\n' "$host" "${listed:-*.$host}" | paste -s -d ' ')
  printf 'ROPEWAY_HOST=%s\nROPEWAY_SLOT_HOSTS="%s"\nROPEWAY_NAMES="%s"\n' "$host" "$slots" "$all" \
    >"$into/etc/ropeway/host.env"
  install -m 644 "$here/Caddyfile" "$into/etc/caddy/Caddyfile"
  install -D -m 644 "$here/caddy-ropeway.conf" "$into/etc/systemd/system/caddy.service.d/ropeway.conf"
  install -m 644 "$here/$service.service" "$into/etc/systemd/system/$service.service"
  install -D -m 644 "$here/60-ropeway.conf" "$into/etc/sysctl.d/60-ropeway.conf"
}

while [ $# -gt 0 ]; do
  case $1 in
    --host) host=${2-}; shift ;;
    --slots) slots=${2-}; shift ;;
    --dns) dns=${2-}; shift ;;
    --cert) cert=${2-}; shift ;;
    --key) key=${2-}; shift ;;
    --internal) internal=1 ;;
    --deno) service=ropeway-deno other=ropeway ;;
    --into) into=${2-}; shift ;;
    -*) fail "there is no $1; see the head of this file" ;;
    *) package=$1 ;;
  esac
  shift
done
[ -n "$host" ] || fail "say --host, the name that leads here, as those of sites do"
if [ -n "$into" ]; then
  write_settings
  exit
fi
[ "$(id -u)" = 0 ] || fail "you are not root; try sudo"
if [ "$service" = ropeway ]; then
  [ -f "$package" ] || fail "say which package; \`npm run package\` makes it"
  package=$(realpath "$package")
else
  [ "$here" = /opt/ropeway/repository/deploy ] || fail "--deno runs from a clone in /opt/ropeway/repository"
fi

# 1. Programs
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends ca-certificates caddy kmod npm openssl procps
mkdir -p /opt/ropeway
# Debian's node is older than what the edge runs on, and its npm than what reads the clone's lock file. All of it is what
# server/package-lock.json says, and takes the place of what was there at once.
omit=--omit=dev
[ "$service" = ropeway ] || omit=''
rm -rf /opt/ropeway/next
mkdir /opt/ropeway/next
cp "$here/server/package.json" "$here/server/package-lock.json" /opt/ropeway/next
(cd /opt/ropeway/next && npm ci ${omit:+"$omit"} --no-audit --no-fund --loglevel=error)
[ -x /opt/ropeway/next/node_modules/.bin/node ] || fail "there is no Node for this processor, $(uname -m)"
if [ "$service" = ropeway ]; then
  mkdir /opt/ropeway/next/node_modules/ropeway
  tar -xzf "$package" -C /opt/ropeway/next/node_modules/ropeway --strip-components=1 --no-same-owner
fi
rm -rf /opt/ropeway/node_modules /opt/ropeway/package.json /opt/ropeway/package-lock.json
mv /opt/ropeway/next/* /opt/ropeway
rmdir /opt/ropeway/next
if [ "$service" = ropeway-deno ]; then
  (cd /opt/ropeway/repository && PATH=/opt/ropeway/node_modules/.bin:$PATH && export PATH &&
    npm ci --no-audit --no-fund --loglevel=error && npm run build)
fi

# 2. Settings
write_settings
[ ! -f /etc/ropeway/key.pem ] || { chgrp caddy /etc/ropeway/key.pem && chmod 640 /etc/ropeway/key.pem; }
[ -z "$dns" ] || caddy list-modules | grep -q "dns.providers.$dns" || caddy add-package "github.com/caddy-dns/$dns"
ROPEWAY_NAMES=$all caddy validate --config /etc/caddy/Caddyfile --adapter caddyfile >/dev/null 2>&1 ||
  fail "Caddy does not take its settings: ROPEWAY_NAMES='$all' caddy validate --config /etc/caddy/Caddyfile"

# 3. The system
modprobe tcp_bbr 2>/dev/null || true
mkdir -p /etc/modules-load.d
echo tcp_bbr >/etc/modules-load.d/ropeway.conf
sysctl -q -p /etc/sysctl.d/60-ropeway.conf || true
[ "$(sysctl -n net.ipv4.tcp_congestion_control)" = bbr ] ||
  echo "BBR is not on: the kernel does not have it, or this is a container; links that lose packets will be slower" >&2

# 4. Services
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl disable -q --now "$other" 2>/dev/null || true
  systemctl enable -q "$service" caddy
  systemctl restart "$service"
  /opt/ropeway/node_modules/.bin/node -e '
    const end = Date.now() + 60_000;
    const ask = () => fetch("http://127.0.0.1:8787/.ropeway/health").then(({ ok }) => ok || again(), again);
    const again = () => (Date.now() < end ? setTimeout(ask, 200) : process.exit(1));
    ask();' || fail "the edge does not answer; journalctl -u $service says why"
  # What it was told by DNS_TOKEN it reads at its start alone.
  if [ -n "$dns" ]; then systemctl restart caddy; else systemctl reload-or-restart caddy; fi
else
  echo "There is no systemd here: nothing was started" >&2
fi
echo "Let TCP 80 and 443 and UDP 443 through the firewall."
key=$(sed -n 's/^ROPEWAY_ACCESS_KEY=//p' /etc/ropeway/key.env)
# The edge says the same of keys that are long and easy to guess.
[ ${#key} -ge 22 ] ||
  fail "no phone can be paired: the key in /etc/ropeway/key.env is easy to guess; delete that file and run this again"
echo "Ropeway is ready: https://$host/#key=$key"
