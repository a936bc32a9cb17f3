#!/usr/bin/env bash
# Builds .venv-pysindy, the environment of PySINDy alone (it needs an older numpy): bash benchmarks/rivals/build-pysindy.sh
# With --compile it first compiles pysindy.txt again from pysindy.in (needs uv on the PATH).
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ "${1:-}" == --compile ]]; then
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
        --no-emit-find-links --custom-compile-command 'benchmarks/rivals/build-pysindy.sh --compile' \
        --output-file benchmarks/rivals/pysindy.txt benchmarks/rivals/pysindy.in
fi
"${PYTHON:-python3.11}" -m venv .venv-pysindy
.venv-pysindy/bin/python -m pip install --quiet --require-hashes -r benchmarks/rivals/pysindy.txt
