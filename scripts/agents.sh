# Shared by agents-starts and agents-hosts: servers and agents as processes, in a folder that is deleted at the end.
# Sourced with $root set to the repository; not run. Only processes started here are ever ended.
source "$root/scripts/provide.sh"

work=

fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 2; }

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# Builds what is stale, and makes the folder.
prepare() {
  "$root/mongoperf" --version > /dev/null || fail 'MongoPerf does not build'
  work=$(mktemp -d "${TMPDIR:-/tmp}/mongoperf-agents.XXXXXX")
  # Many processes start sooner with quick compilation; nothing here measures how fast anything is. What is called often is not compiled again in
  # the background (65,535 calls come first), and loops are compiled fully at once, not in the middle of a wait: users have no tiers.
  export DOTNET_TieredCompilation=1 DOTNET_TieredPGO=0 DOTNET_TC_CallCountThreshold=FFFF DOTNET_TC_QuickJitForLoops=0 MONGOPERF_SERVERS="$work/none"
}

program=$root/src/MongoPerf/bin/Release/net10.0/mongoperf.dll

# end_jobs [BUT…]: ends what this shell started and is still there, but for these, and waits for it.
end_jobs() {
  local job
  local -a ended=()
  jobs -pr > "$work/jobs"
  while read -r job; do
    [[ " $* " == *" $job "* ]] || { kill "$job" 2> /dev/null; ended+=("$job"); }
  done < "$work/jobs"
  ((${#ended[@]} == 0)) || wait "${ended[@]}" 2> /dev/null
}

end_all() {
  [[ -z $work ]] || end_jobs
  [[ -z $work ]] || rm -rf "$work"
}

# uri_in FILE: of the server that says there where it listens, once it has.
uri_in() {
  local i address
  for ((i = 0; i < 600; i++)); do
    address=$(grep -oE -m 1 'listening on [^ ]+' "$1" 2> /dev/null) && { printf 'mongodb://%s\n' "${address##* }"; return; }
    sleep 0.1
  done
  cat "$1" >&2
  fail 'the server did not start'
}

# await SECONDS COMMAND…: until it succeeds.
await() {
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < until)) || return 1
    sleep 0.2
  done
}

# number_of NAME: the last value of that name in a result as JSON, on standard input.
number_of() { grep -oE "\"$1\": *[0-9.]+" | tail -n 1 | grep -oE '[0-9.]+$'; }
