# Shared by mongoperf and run-tests: builds what is stale, brings what is missing. Sourced with $root set to the repository; not run.

note() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

require_dotnet() {
  command -v dotnet >/dev/null && return
  note "dotnet is missing; install the .NET 10 SDK (https://dot.net/download, on Debian and Ubuntu the package dotnet-sdk-10.0)"
  exit 127
}

# ---- building ----

# When the last good build began, and of which commit it was (reports name the commit).
build_stamp=$root/src/MongoPerf/obj/.release-build
program_folder=$root/src/MongoPerf/bin/Release/net10.0

current_commit() { git -C "$root" rev-parse HEAD 2>/dev/null || true; }

is_built() {
  [[ -f $program_folder/mongoperf.dll && -f $build_stamp && $(<"$build_stamp") == "$(current_commit)" ]] || return 1
  # Folders count too: a deleted file changes only its folder.
  [[ -z $(find "$root"/src "$root"/Directory.*.props "$root"/global.json \
    \( -name bin -o -name obj \) -prune -o -newer "$build_stamp" -print -quit 2>/dev/null) ]]
}

# Whether a program of this folder runs: what a process has as a whole argument counts, wherever it was started.
is_running() { grep -qszxFf <(printf '%s\n' "$program_folder/mongoperf.dll") /proc/[0-9]*/cmdline; }

# The compiler that a build started by this name, and its socket, which it does not delete.
end_compiler() {
  local process
  for process in $(grep -lszxF -- "-pipename:$1" /proc/[0-9]*/cmdline); do
    kill "${process//[^0-9]/}" 2>/dev/null || true
  done
  rm -f "${TMPDIR:-/tmp}/$1"
}

# build_release TARGET ["if-stale"]: quiet; the log is shown only when the build fails. One build at a time.
# A running program may load any of its files at any time, so they are left as they are while one runs: with if-stale the former build
# is used then, otherwise nothing can be built.
build_release() {
  local target=$1 project log began compiler options=()
  for project in "$root"/src/*/*.csproj; do mkdir -p "${project%/*}"/{bin,obj}; done
  (
    flock 9
    [[ ${2:-} == if-stale ]] && is_built && exit 0
    if [[ -f $program_folder/mongoperf.dll ]] && is_running; then
      if [[ ${2:-} == if-stale ]]; then
        note "a mongoperf of this folder is running: the former build is used, not the changed sources"
        exit 0
      fi
      note "a mongoperf of this folder is running: nothing can be built until it ends"
      exit 1
    fi
    provide_room 100
    log=$(mktemp)
    began=$build_stamp.$BASHPID
    compiler=mongoperf-$BASHPID-$RANDOM
    trap 'rm -f "$log" "$began"; end_compiler "$compiler"' EXIT
    current_commit > "$began"
    # New files, for should one start meanwhile: it keeps those that it has open.
    rm -f "$program_folder"/*.dll
    note "building MongoPerf (about half a minute; up to two the first time, with its packages)"
    # Only who builds to test needs the analysers, which take a quarter of a build's time.
    [[ ${2:-} != if-stale ]] || options=(-p:RunAnalyzers=false)
    # One compiler for all projects is warm for most of them; it is this build's own and ends with it: left behind, it would take processor time
    # from what is measured. It does not live long enough for a profile of its code to pay: without one a build takes a fifth less processor time.
    options+=(-nodeReuse:false -p:UseSharedCompilation=true -p:SharedCompilationId="$compiler")
    build() { DOTNET_TieredPGO=0 dotnet build "$target" -c Release -v quiet --nologo -clp:NoSummary "${options[@]}" "$@" >"$log" 2>&1 9>&-; }
    # Without the compiler that works ahead of time, commands start more slowly, and nothing else changes.
    if ! build && ! { grep -q 'NU110.*crossgen2' "$log" && build -p:Precompile=false; }; then
      cat "$log" >&2
      note "the build failed"
      exit 1
    fi
    # Packages with known vulnerabilities, once each; the log is otherwise shown only when a build fails.
    grep -o 'warning NU190[1-4]: .*' "$log" | sed 's/ \[[^]]*\]$//' | sort -u >&2 || true
    mv -f "$began" "$build_stamp"
  ) 9>"$root/src/MongoPerf/obj/.release-build-lock"
}

# ---- room ----

# has_room FOLDER MEGABYTES: whether it can be written and has as much.
has_room() { [[ -d $1 && -w $1 ]] && (($(df -Pm "$1" | sed -nE '$s/.* ([0-9]+) +[0-9]+% .*/\1/p') >= $2)); }

# provide_room MEGABYTES: sees to it that TMPDIR has as much, as what is built and tested writes there.
provide_room() {
  local named=${TMPDIR:-/tmp} folder
  ! has_room "$named" "$1" || return 0
  for folder in /tmp /var/tmp; do
    if has_room "$folder" "$1"; then
      note "$named has less than $1 MB of room, $folder is used instead"
      export TMPDIR=$folder
      return
    fi
  done
  note "$named, /tmp and /var/tmp have less than $1 MB of room: set TMPDIR to a folder with more"
  exit 1
}

# ---- packages ----

has_library() {
  local folder
  for folder in /usr/lib/*-linux-gnu* /usr/lib /usr/lib64 /usr/local/lib /lib; do
    compgen -G "$folder/$1" >/dev/null && return
  done
  return 1
}

# What must be there for a Debian package to count as present: a program's or a library's name.
is_present() {
  case $1 in
    chromium) command -v chromium >/dev/null ;;
    xz-utils) command -v xz >/dev/null ;;
    gcc) command -v cc >/dev/null ;;
    libc6-dev) [[ -f /usr/include/stdio.h ]] || echo '#include <stdio.h>' | cc -E - >/dev/null 2>&1 ;;
    libssl3) has_library libssl.so.3 ;;
    libcurl4) has_library libcurl.so.4 ;;
    libsnappy1v5) has_library libsnappy.so.1 ;;
    # For the system's own Python, which another one first in PATH does not stand for.
    python3-pymongo) /usr/bin/python3 -c 'import pymongo' 2>/dev/null ;;
    python3-gridfs) /usr/bin/python3 -c 'import gridfs' 2>/dev/null ;;
    *) return 1 ;;
  esac
}

# provide PACKAGE...: installs the Debian packages that are missing, each by itself: one that this system does not have keeps no other
# away. Where it can't, a line says so, and the caller goes on.
provide() {
  local package missing=() failed=() as_root=()
  for package; do is_present "$package" || missing+=("$package"); done
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || as_root=(sudo -n)
  if command -v apt-get >/dev/null && { ((EUID == 0)) || sudo -n true 2>/dev/null; }; then
    note "installing ${missing[*]}"
    for package in "${missing[@]}"; do install_package "$package" || failed+=("$package"); done
    missing=()
    if ((${#failed[@]})); then
      # The lists of packages may be old, or not there at all.
      as_root_alone apt-get update -qq "${apt_options[@]}"
      for package in "${failed[@]}"; do install_package "$package" || missing+=("$package"); done
    fi
  fi
  for package in "${missing[@]}"; do
    note "$package is missing and not installable from here (on Debian: sudo apt-get install $package)"
  done
}

apt_options=(-o DPkg::Lock::Timeout=300 -o Acquire::Retries=0 -o Acquire::http::Timeout=20)

install_package() {
  as_root_alone env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${apt_options[@]}" "$1"
  is_present "$1"
}

# Runs a command with as_root of provide, silently, and not beside another one of ours. Its failure shows in what is there afterwards.
as_root_alone() {
  mkdir -p "$root/src/MongoPerf/obj"
  (
    flock 9
    "${as_root[@]}" "$@"
  ) >/dev/null 2>&1 9>"$root/src/MongoPerf/obj/.packages-lock" || true
}
