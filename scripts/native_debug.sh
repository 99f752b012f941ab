#!/usr/bin/env bash
# Builds the native kernels with sanitizers and runs tests with them: `make native-debug`.
#
#     scripts/native_debug.sh PYTHON [TEST ...]
#
# First the address and the undefined-behaviour sanitizer, with every index of a table looked at
# (native/check_table.h), under the tests that call each kernel; others may be named. Python and
# jaxlib are not instrumented, so the sanitizer's library is loaded before them, and leaks are not
# counted. Then the thread sanitizer, under a driver without Python. The library of the package
# stays as it is. A compiler without sanitizers is a failure in the workflow alone.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=$1
shift
NATIVE=jaxneuro/_kernels/native
BUILD=build/native-debug
CXX=${CXX:-g++}
TESTS=("$@")
if [ ${#TESTS[@]} -eq 0 ]; then
  # All but those of GPU kernels and of the reference, and what is no kernel.
  for name in cotangents deliver delivery_bins delivery_threads draw_rows gap_lists gather k_cap \
    learn materialize new_sources operands pack poisson short_term synaptic_input unpack; do
    TESTS+=("tests/kernels/test_$name.py")
  done
  TESTS+=("tests/parallel/test_exchange.py")
fi

mkdir -p "$BUILD"
for kind in address,undefined thread; do
  if ! echo 'int main() {}' | "$CXX" -std=c++17 "-fsanitize=$kind" -x c++ - -o "$BUILD/empty" 2>/dev/null ||
    ! "$BUILD/empty"; then
    echo "native-debug: $CXX has no sanitizers here ($kind): nothing was run"
    exit ${GITHUB_ACTIONS:+1}
  fi
done

OPTIONS=(-std=c++17 -g1 -fPIC -fno-omit-frame-pointer -ffp-contract=off -fno-math-errno
  -Wall -Wextra -Werror -fno-sanitize-recover=all)

echo "native-debug: threads"
"$CXX" "${OPTIONS[@]}" -O1 -fsanitize=thread -pthread "-I$NATIVE" tests/native/threads.cc \
  -o "$BUILD/threads"
TSAN_OPTIONS=halt_on_error=1 "$BUILD/threads"

echo "native-debug: addresses and undefined behaviour"
HEADERS=$("$PYTHON" -c "import jaxlib, pathlib; print(pathlib.Path(jaxlib.__file__).parent / 'include')")
for file in "$NATIVE"/*.cc; do echo "$file"; done |
  xargs -P 2 -I{} sh -c '"$@" -c "$0" -o "'"$BUILD"'/$(basename "$0" .cc).o"' {} \
    "$CXX" "${OPTIONS[@]}" -O0 -fsanitize=address,undefined -DJAXNEURO_CHECKED \
    -D_GLIBCXX_ASSERTIONS -isystem "$HEADERS"
"$CXX" -shared -fsanitize=address,undefined "$BUILD"/*.o -o "$BUILD/_cpu.so"
export JAXNEURO_NATIVE="$PWD/$BUILD/_cpu.so"
ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
  LD_PRELOAD="$("$CXX" -print-file-name=libasan.so) $("$CXX" -print-file-name=libubsan.so)" \
  "$PYTHON" -m pytest -x --capture=sys -n 2 --dist loadgroup --max-worker-restart=0 "${TESTS[@]}"
