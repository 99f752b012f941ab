#!/usr/bin/env bash
# Builds an sdist, and of it a wheel with and without a C++ compiler, installs each in a fresh
# environment and runs a small network there, outside of the checkout; or does so with a wheel that
# is given:
#
#     scripts/wheel_check.sh PYTHON [WHEEL]
set -euo pipefail
python=$1
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/smoke.py" <<'PY'
import sys

import jaxneuro as jn
from jaxneuro._kernels.native import native_available

wanted = sys.argv[1] == "native"
assert native_available() == wanted, "native kernels: wanted " + sys.argv[1]
neurons = jn.Population("E", 200, jn.neurons.LIF(), initial={"v": jn.Uniform(-70.0, -55.0)})
rule = jn.connectivity.FixedProbability(0.1)
synapse = jn.synapses.Exponential(tau_syn=2.0)
loop = jn.Projection("E", "E", rule, weight=20.0, delay=1.5, synapse=synapse)
drive = jn.Stimulation("E", jn.stimuli.Current(400.0))
# Poisson draws are built for several kinds of CPU, one of which is taken here.
noise = jn.Stimulation("E", jn.stimuli.Poisson(1000.0), weight=1.0, synapse=synapse)
net = jn.build(jn.Description([neurons], [loop], [drive, noise]), key=1, dt=0.1)
result = jn.simulate(net, 100.0, key=2)
assert result.events("E")[0].size > 100, "the network should spike"
print(f"{jn.__version__} {sys.argv[1]}: {result.rate('E'):.1f} Hz from {jn.__file__}")
PY

check() { # name, compiler, native|reference
  # A copy of the tracked and untracked sources: a stale build folder would hide a failure.
  mkdir "$work/$1"
  (cd "$root" && git ls-files -z --cached --others --exclude-standard |
    xargs -0 sh -c 'for x; do if [ -e "$x" ]; then printf "%s\0" "$x"; fi; done' _ | tar -cf - --null -T -) |
    tar -xf - -C "$work/$1"
  (cd "$work/$1" && env ${2:+CC="$2" CXX="$2"} "$python" -m build --outdir "$work/dist-$1" . \
    >"$work/$1.log" 2>&1) || { tail -30 "$work/$1.log"; exit 1; }
  run "$1" "$work/dist-$1"/*.whl "$3"
}

run() { # name, wheel, native|reference
  "$python" -m venv "$work/venv-$1"
  "$work/venv-$1/bin/python" -m pip install --quiet --disable-pip-version-check "$2"
  (cd "$work" && "$work/venv-$1/bin/python" smoke.py "$3")
}

if [ $# -gt 1 ]; then
  run given "$(realpath "$2")" native
  exit
fi
check with "" native
check without /bin/false reference
