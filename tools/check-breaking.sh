#!/usr/bin/env bash
# Compares proto/ with what a commit or tag had, by buf's FILE rules. A first commit has nothing to break.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-$(git describe --tags --abbrev=0 2>/dev/null || echo HEAD)}
if ! git cat-file -e "$base:proto" 2>/dev/null; then
  echo "check-breaking: $base has no proto/: nothing to compare"
  exit 0
fi
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
git archive "$base" proto third_party buf.yaml | tar -x -C "$before"
buf breaking --against "$before"
echo "check-breaking: nothing breaks since $base"
