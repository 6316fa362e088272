# What result files of tests (trx) say. Sourced by run-tests and .ci/run; not run.

# counter FILE NAME
counter() { grep -om1 '<Counters [^>]*>' "$1" | sed -E "s/.* $2=\"([0-9]+)\".*/\1/"; }

# passed_in FILE, failed_in FILE: the tests' names, sorted, a line each. What ran and did not pass has failed, whatever its outcome is called.
passed_in() { sed -nE 's/.*<UnitTestResult .*testName="([^"]*)".* outcome="Passed".*/\1/p' "$1" | LC_ALL=C sort; }
failed_in() { sed -nE '/ outcome="(Passed|NotExecuted)"/d; s/.*<UnitTestResult .*testName="([^"]*)".*/\1/p' "$1" | LC_ALL=C sort; }

# flaky_in FILE AGAIN: what failed, and passed when it was run once more. Of tests with one name all must pass then.
flaky_in() {
  LC_ALL=C comm -12 <(failed_in "$1") <(passed_in "$2" | uniq | LC_ALL=C comm -23 - <(failed_in "$2" | uniq))
}

# filter_of FILE: selects what failed, a theory with all of its data.
filter_of() { failed_in "$1" | sed -e 's/(.*//' -e 's/^/FullyQualifiedName=/' | LC_ALL=C sort -u | paste -sd '|'; }

# as_text: of what has been cut out of XML.
as_text() { sed -e 's/&quot;/"/g' -e "s/&apos;/'/g" -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&amp;/\&/g'; }

# left_out FILE…: how many tests were skipped, by what they need (tests/Shared/Need.cs), with how to have it. At most five lines.
left_out() {
  local -a lines more=()
  local i count need rest=0
  mapfile -t lines < <(sed -nE '/ outcome="NotExecuted"/,/<\/UnitTestResult>/s/.*>needs ([^<]*)<.*/\1/p' "$@" | LC_ALL=C sort | uniq -c \
    | LC_ALL=C sort -k1,1nr -k2 | as_text)
  for ((i = 0; i < ${#lines[@]}; i++)); do
    read -r count need <<< "${lines[i]}"
    if ((i < 4 || ${#lines[@]} == 5)); then
      ((count == 1)) && echo "1 needs $need" || echo "$count need $need"
    else
      more+=("${need%%: *}")
      rest=$((rest + count))
    fi
  done
  ((rest == 0)) || (IFS=';'; echo "$rest more need ${more[*]}" | sed 's/;/; /g')
}

# summarize FOLDER PROJECT…: the last lines of a test run with the results FOLDER/PROJECT.trx, and FOLDER/PROJECT.again.trx of what was
# run once more: the names of what failed and of what is flaky (which has passed), what was left out, and the sum. Fails if a test has.
summarize() {
  local folder=$1 project file again passed=0 failed=0 skipped=0 flaky files=() most=50
  shift
  : > "$folder/failed"
  : > "$folder/flaky"
  for project; do
    file=$folder/$project.trx again=$folder/$project.again.trx
    files+=("$file")
    # What ran and did not pass has failed, whatever name the counter has; what did not run was skipped.
    passed=$((passed + $(counter "$file" passed)))
    failed=$((failed + $(counter "$file" executed) - $(counter "$file" passed)))
    skipped=$((skipped + $(counter "$file" total) - $(counter "$file" executed)))
    [[ -s $again ]] || again=/dev/null
    flaky_in "$file" "$again" | as_text >> "$folder/flaky"
    LC_ALL=C comm -23 <(failed_in "$file") <(flaky_in "$file" "$again") | as_text >> "$folder/failed"
  done
  sed -e 's/^/failed: /' -e "${most}q" "$folder/failed"
  sed 's/^/flaky: /' "$folder/flaky"
  flaky=$(wc -l < "$folder/flaky")
  passed=$((passed + flaky)) failed=$((failed - flaky))
  (($# == 0)) || left_out "${files[@]}"
  echo "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0 && passed > 0))
}

# add_up FILE…: the sum of the sums with which these end. Fails if one ends without.
add_up() {
  local file sum whole=1 passed=0 failed=0 skipped=0
  for file; do
    sum=$(tail -n 1 "$file")
    if [[ $sum =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
      passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
    else
      whole=0
    fi
  done
  echo "$passed passed, $failed failed, $skipped skipped"
  ((whole))
}
