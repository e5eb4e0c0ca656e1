#!/bin/bash
# Runs the files of tests that use package randtest, with FACTOR (100 unless told) times as many
# random cases as the usual run. A failure names its seed. Run it in the module's root.
set -u -o pipefail
export VITRINE_RANDOM_FACTOR=${FACTOR:-100}
failed=0
files=$(git grep -lE 'randtest\.(Check|Run|Seeds)\(' -- '*_test.go' ':!internal/randtest')
for folder in $(xargs -n1 dirname <<<"$files" | sort -u); do
  names=$(sed -nE 's/^func (Test[A-Za-z0-9_]*)\(.*/\1/p' $(grep "^$folder/[^/]*$" <<<"$files") | paste -sd '|')
  go test -count=1 -timeout 6h -run "^($names)\$" "./$folder" || failed=1
done
exit $failed
