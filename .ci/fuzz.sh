#!/bin/bash
# Fuzzes every reader of untrusted bytes and of queries, one after the other on one core at the
# lowest priority, until each has had MINUTES minutes of processor time (10 unless
# told), and writes a line per target to LOG/table.md: target, CPU minutes, runs,
# inputs that reached new code, outcome. A failing input is kept by go test under
# testdata/fuzz. Run it in the module's root; targets may be given, such as
# media/extract/comfy:FuzzRead.
set -u -o pipefail
MINUTES=${MINUTES:-10}
LOG=${LOG:-$(mktemp -d)}
mkdir -p "$LOG"
TIMEFORMAT='cpu %U %S'

targets=("$@")
[ $# -gt 0 ] || targets=(internal/jsonscan:FuzzParse query:FuzzQuery media/preview:FuzzMake op/lineage:FuzzDuration internal/opcli:FuzzParse)
extract=(comfy:FuzzRead container:FuzzISO container:FuzzEBML container:FuzzImage container:FuzzAudio container:FuzzPNG
  container:FuzzStealth container:FuzzJPEG container:FuzzWebP container:FuzzEXIF c2pa:FuzzRead container:FuzzJSON
  container:FuzzXMP container:FuzzXML .:FuzzFromChunks formats:FuzzJSONWriters formats:FuzzInfotext formats:FuzzDream
  formats:FuzzMidjourney)
[ $# -gt 0 ] || targets+=("${extract[@]/#/media/extract/}")

for target in "${targets[@]}"; do
  package=${target%%:*} name=${target##*:} log=$LOG/${target//[.:\/]/_}.log
  spent=0 runs=0 found=0 outcome="nothing found"
  while left=$((MINUTES * 60 - spent)) && [ $left -gt 0 ]; do
    { time nice -n 19 go test -run xxx -fuzz "^$name\$" -fuzztime "$((left > 20 ? left : 20))s" -fuzzminimizetime 5x -parallel 1 \
      "./$package"; } >"$log.round" 2>&1
    failed=$?
    cat "$log.round" >>"$log"
    spent=$((spent + $(awk '/^cpu / {printf "%d", $2 + $3 + 0.5}' "$log.round")))
    last=$(grep -o 'execs: .*' "$log.round" | tail -1)
    runs=$((runs + $(sed -E 's/execs: ([0-9]+).*/\1/' <<<"${last:-0}")))
    found=$((found + $(sed -nE 's/.*new interesting: ([0-9]+).*/\1/p' <<<"${last:-new interesting: 0}")))
    if [ $failed -ne 0 ]; then
      outcome="FAILED, see $log"
      break
    fi
  done
  rm -f "$log.round"
  echo "| $target | $((spent / 60)).$((spent % 60 / 6)) | $runs | $found | $outcome |" | tee -a "$LOG/table.md"
done
