#!/usr/bin/env bash
# Builds .venv-rivals, the environment in which benchmarks and studies meet other libraries:
#     bash benchmarks/rivals/build.sh
# With --compile it first compiles constraints.txt again from requirements.in (needs uv on the PATH).
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ "${1:-}" == --compile ]]; then
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
        --no-emit-find-links --custom-compile-command 'benchmarks/rivals/build.sh --compile' \
        --override benchmarks/rivals/overrides.txt \
        --output-file benchmarks/rivals/constraints.txt benchmarks/rivals/requirements.in
fi
"${PYTHON:-python3.11}" -m venv .venv-rivals
.venv-rivals/bin/python -m pip install --quiet --no-deps --require-hashes -r benchmarks/rivals/constraints.txt
# Snorkel's LabelModel runs on torch. Its version is pinned, its build is what the machine's index offers.
.venv-rivals/bin/python -m pip install --quiet torch==2.13.0
# The checkout itself, without its own dependencies: the pure rooms need numpy and scipy only.
site=$(.venv-rivals/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\n' "$PWD/src" > "$site/counterproof.pth"
