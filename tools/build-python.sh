#!/usr/bin/env bash
# Makes a Python environment with the official gRPC packages at pinned versions, into .tools/python (ignored
# by git): tests generate a client from proto/ and drive the services with it.
set -euo pipefail

GRPCIO_VERSION=1.85.3
GRPCIO_TOOLS_VERSION=1.85.1

cd "$(dirname "$0")/.."
home="$PWD/.tools/python"
stamp="$home/.versions"
want="grpcio==$GRPCIO_VERSION grpcio-tools==$GRPCIO_TOOLS_VERSION"

if ! command -v python3 >/dev/null; then
  echo 'build-python: python3 is needed for the test of a client in another language' >&2
  exit 1
fi
if [ "$(cat "$stamp" 2>/dev/null)" != "$want" ]; then
  rm -rf "$home"
  python3 -m venv "$home"
  # shellcheck disable=SC2086 # Two words on purpose.
  "$home/bin/pip" install --quiet --disable-pip-version-check $want
  echo "$want" >"$stamp"
fi
"$home/bin/python" -c 'import grpc; print("python grpcio", grpc.__version__)'
