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
  [[ -z $(find "$root"/src "$root"/plots "$root"/Directory.*.props "$root"/global.json \
    \( -name bin -o -name obj \) -prune -o -newer "$build_stamp" -print -quit 2>/dev/null) ]]
}

# build_release TARGET ["if-stale"]: quiet; the log is shown only when the build fails. One build at a time.
build_release() {
  local project log began
  for project in "$root"/src/*/*.csproj; do mkdir -p "${project%/*}"/{bin,obj}; done
  (
    flock 9
    [[ ${2:-} == if-stale ]] && is_built && exit 0
    log=$(mktemp)
    began=$build_stamp.$BASHPID
    trap 'rm -f "$log" "$began"' EXIT
    current_commit > "$began"
    # A running mongoperf keeps the files it has open; written over in place, they would change under it.
    rm -f "$program_folder"/*.dll
    # No build server is left behind: it would take processor time from what is measured.
    if ! dotnet build "$1" -c Release -v quiet --nologo -clp:NoSummary -nodeReuse:false -p:UseSharedCompilation=false >"$log" 2>&1 9>&-; then
      cat "$log" >&2
      note "the build failed"
      exit 1
    fi
    mv -f "$began" "$build_stamp"
  ) 9>"$root/src/MongoPerf/obj/.release-build-lock"
}

# ---- packages ----

has_library() {
  local folder
  for folder in /usr/lib/*-linux-gnu* /usr/lib /usr/lib64 /usr/local/lib /lib; do
    [[ -e $folder/$1 ]] && return
  done
  return 1
}

# What must be there for a Debian package to count as present: a program's or a library's name.
is_present() {
  case $1 in
    gnuplot-nox) command -v gnuplot >/dev/null ;;
    xz-utils) command -v xz >/dev/null ;;
    librocksdb7.8) has_library librocksdb.so.7.8 ;;
    libssl3) has_library libssl.so.3 ;;
    libcurl4) has_library libcurl.so.4 ;;
    *) return 1 ;;
  esac
}

# provide PACKAGE...: installs the Debian packages that are missing; where it can't, one line says so, and the caller goes on.
provide() {
  local package missing=() as_root=()
  for package; do is_present "$package" || missing+=("$package"); done
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || as_root=(sudo -n)
  if command -v apt-get >/dev/null && { ((EUID == 0)) || sudo -n true 2>/dev/null; } && install_packages; then
    return 0
  fi
  note "missing and not installable from here: ${missing[*]} (on Debian: sudo apt-get install ${missing[*]})"
}

# Uses missing and as_root of provide.
install_packages() {
  local options=(-y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 -o Acquire::Retries=0 -o Acquire::http::Timeout=20)
  note "installing ${missing[*]}"
  mkdir -p "$root/src/MongoPerf/obj"
  (
    flock 9
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install "${options[@]}" "${missing[@]}" && exit 0
    "${as_root[@]}" apt-get update -qq "${options[@]:3}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install "${options[@]}" "${missing[@]}"
  ) >/dev/null 2>&1 9>"$root/src/MongoPerf/obj/.packages-lock" || return 1
  for package in "${missing[@]}"; do is_present "$package" || return 1; done
}
