#!/usr/bin/env bash
# Runs the suites of tensor operations, gradients, training, metrics and conformance on TensorFlow's native library for
# CPUs, and compares its operations with float64. The library is installed into a copy of the checkout (out/native), so
# that all other tests compute as before. EVENHAND_NATIVE_CACHE names a folder that keeps the 1 GB of TensorFlow
# (default: ~/.cache/evenhand). If PyPI cannot be reached, it says so and ends with 0; EVENHAND_REQUIRE_NATIVE=1 makes
# this an error. Options: --node 22,24 runs the suites also on these versions of Node, where npx can get them.
set -euo pipefail
cd "$(dirname "$0")/.."

versions=''
if [ "${1:-}" = --node ]; then versions=${2//,/ }; fi

copy=out/native
mkdir -p "$copy"
# The installed package is kept, so that a second run does not compile it again.
find "$copy" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
git ls-files -z src test config models scripts package.json tsconfig.json | xargs -0 cp --parents -t "$copy"
cp src/api/client/schema.ts "$copy/src/api/client/" 2>/dev/null || true

cache=${EVENHAND_NATIVE_CACHE:-$HOME/.cache/evenhand}
if [ ! -d "$copy/node_modules/@tensorflow/tfjs-node/deps" ] &&
  ! timeout 900 node dist/cli/main.js backend install node --prefix "$copy" --cache "$cache"; then
  echo "TensorFlow's native library cannot be installed here, so that no test computes on the backend node." >&2
  [ "${EVENHAND_REQUIRE_NATIVE:-}" != 1 ]
  exit
fi

cd "$copy"
export EVENHAND_REQUIRE_NATIVE=1
mapfile -t suites < <(grep -rlE "describeOn\((backend|'node')" test --include='*.test.ts')
mocha=$(node -p 'require.resolve("mocha/bin/mocha.js")')
run_suites() {
  timeout 900 "$@" "$mocha" --no-config --node-option import=#load-types --extension ts --require ./test/helpers/setup.ts \
    --reporter dot --timeout 120000 --grep 'on node( |$)' "${suites[@]}"
}
run_suites node
for version in $versions; do
  if ! timeout 300 npx --yes -p "node@$version" node --version; then
    echo "Node $version cannot be installed here, so that no suite runs on it." >&2
    continue
  fi
  run_suites npx --yes -p "node@$version" node
done
