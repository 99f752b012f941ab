#!/usr/bin/env bash
# Runs COBA with 400 neurons and tests of the native kernels on x86-64 CPUs without AVX-512 (Haswell)
# and without AVX2 (SandyBridge, the least that jaxlib takes), which qemu's user mode imitates:
#
#     scripts/masked_cpu.sh PYTHON [TESTS...]
#
# Needs qemu-x86_64 7.2 or newer. With JAXNEURO_NATIVE=FILE in the environment it is the library of a
# wheel that runs. The spikes must be those of the CPU that is here.
set -euo pipefail
python=$(realpath -s "$1")
shift
cd "$(dirname "$0")/.."
export PYTHONPATH=$PWD JAXNEURO_THREADS=1 JAX_ENABLE_COMPILATION_CACHE=0

coba='
import hashlib
import jaxneuro as jn
from benchmarks._balanced import coba
from jaxneuro._kernels.native import native_library

result = jn.simulate(jn.build(coba(400), key=1, dt=0.1), 200.0, key=1, progress=False)
spikes = [x.tobytes() for name in sorted(result.populations) for x in result.events(name)]
bits = 8 * native_library().jaxneuro_vector_bytes(0)
print(f"vectors of {bits} bits", hashlib.sha256(b"".join(spikes)).hexdigest())
'
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
here=$("$python" -c "$coba")
echo "here: $here"
for cpu in Haswell SandyBridge; do
  there=$(qemu-x86_64 -cpu "$cpu" "$python" -c "$coba" 2>"$errors") || { cat "$errors"; exit 1; }
  echo "$cpu: $there"
  [ "${there##* }" = "${here##* }" ] || { echo "other spikes"; exit 1; }
  qemu-x86_64 -cpu "$cpu" "$python" -m pytest -q -p no:cacheprovider \
    "${@:-tests/kernels/test_draw_rows.py}" 2>&1 | grep -v "TCG doesn't"
done
