#!/bin/sh
# A Ropeway edge behind Caddy, as services, on Debian 12 or newer. As root, with the file that `npm run package` makes:
#
#   sh install.sh --host ropeway.example CERTIFICATES ropeway-0.1.0.tgz
#
# CERTIFICATES, for the host and its wildcard, are one of
#   --dns PROVIDER       Caddy gets them, by DNS; the provider's token in DNS_TOKEN (caddyserver.com/docs/modules)
#   --cert FILE --key FILE
#   --internal           Caddy's own authority, which no phone trusts: for a trial
#
# Run it again with a newer package to update: the key stays, and phones find their sessions again.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
host='' dns='' cert='' key='' internal='' package=''

fail() {
  echo "Cannot install: $1" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --host) host=${2-}; shift ;;
    --dns) dns=${2-}; shift ;;
    --cert) cert=${2-}; shift ;;
    --key) key=${2-}; shift ;;
    --internal) internal=1 ;;
    -*) fail "there is no $1; see the head of this file" ;;
    *) package=$1 ;;
  esac
  shift
done
[ "$(id -u)" = 0 ] || fail "you are not root; try sudo"
[ -n "$host" ] || fail "say --host, the name that leads here, as its wildcard does"
[ -f "$package" ] || fail "say which package; \`npm run package\` makes it"
package=$(realpath "$package")

# 1. Programs
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends ca-certificates caddy kmod npm openssl procps
mkdir -p /opt/ropeway
# Debian's node is older than what the edge runs on.
(cd /opt/ropeway && npm install --no-audit --no-fund --loglevel=error node@24 "$package")

# 2. Settings
umask 022
mkdir -p /etc/ropeway
echo "ROPEWAY_HOST=$host" >/etc/ropeway/host.env
if [ ! -s /etc/ropeway/key.env ]; then
  (umask 077 && echo "ROPEWAY_ACCESS_KEY=$(openssl rand -hex 32)" >/etc/ropeway/key.env)
fi
if [ -n "$dns" ]; then
  [ -n "${DNS_TOKEN-}" ] || fail "set DNS_TOKEN to the token of $dns"
  (umask 077 && echo "DNS_TOKEN=$DNS_TOKEN" >/etc/ropeway/dns.env)
  caddy list-modules | grep -q "dns.providers.$dns" || caddy add-package "github.com/caddy-dns/$dns"
  printf 'tls {\n\tdns %s {env.DNS_TOKEN}\n}\n' "$dns" >/etc/ropeway/tls.caddy
elif [ -n "$cert" ] && [ -n "$key" ]; then
  install -m 644 "$cert" /etc/ropeway/cert.pem
  install -m 640 -g caddy "$key" /etc/ropeway/key.pem
  echo 'tls /etc/ropeway/cert.pem /etc/ropeway/key.pem' >/etc/ropeway/tls.caddy
elif [ -n "$internal" ]; then
  echo 'tls internal' >/etc/ropeway/tls.caddy
elif [ ! -s /etc/ropeway/tls.caddy ]; then
  fail "say where the certificates come from: --dns, --cert and --key, or --internal"
fi
install -m 644 "$here/Caddyfile" /etc/caddy/Caddyfile
install -D -m 644 "$here/caddy-ropeway.conf" /etc/systemd/system/caddy.service.d/ropeway.conf
install -m 644 "$here/ropeway.service" /etc/systemd/system/ropeway.service
install -D -m 644 "$here/60-ropeway.conf" /etc/sysctl.d/60-ropeway.conf
(ROPEWAY_HOST=$host && export ROPEWAY_HOST && caddy validate --config /etc/caddy/Caddyfile --adapter caddyfile >/dev/null 2>&1) ||
  fail "Caddy does not take its settings: ROPEWAY_HOST=$host caddy validate --config /etc/caddy/Caddyfile"

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
  systemctl enable -q ropeway caddy
  systemctl restart ropeway caddy
else
  echo "There is no systemd here: nothing was started" >&2
fi
echo "Let TCP 80 and 443 and UDP 443 through the firewall."
echo "Ropeway is ready: https://$host/#key=$(sed -n 's/^ROPEWAY_ACCESS_KEY=//p' /etc/ropeway/key.env)"
