# Takes a word of the line: which command is it, and what does the last one before the cursor ask for?
_mongoperf_take() {
  if [[ -n $option ]]; then
    [[ $option == --out ]] && out=$1
    option=
  elif [[ $1 == --*=* ]]; then
    [[ $1 == --out=* ]] && out=${1#*=}
  elif [[ $1 == -* ]]; then
    _mongoperf_value "$command $1" && option=$1
  elif [[ -z $command && $1 == help ]]; then
    :
  elif _mongoperf_words "${command:+$command }$1"; then
    command=${command:+$command }$1
  else
    ((++argument))
  fi
}

# Names of deployments, and the runs folder, of a project's file (in this folder) and the user's. A pipe would not end.
_mongoperf_configured() {
  local file line inside runs=
  for file in ./mongoperf.yaml "${XDG_CONFIG_HOME:-$HOME/.config}/mongoperf/config.yaml"; do
    [[ -f $file && -r $file ]] || continue
    inside=
    while IFS= read -r line; do
      case $line in
        runs:*)
          [[ -z $runs ]] || continue
          runs=${line#runs:} runs=${runs#"${runs%%[! ]*}"} runs=${runs%%[ #]*}
          [[ -z $runs || $runs == [/~]* ]] || runs=${file%/*}/$runs ;;
        deployments:*) inside=1 ;;
        [a-z]*) inside= ;;
        ' '*:*)
          line=${line#"${line%%[! ]*}"} line=${line%%:*}
          [[ -z $inside || -z $line || $line == *[!A-Za-z0-9._-]* || $line == uri || $line == passwordFile ]] || names+=("@$line") ;;
      esac
    done < "$file"
  done
  [[ -n $runs && -z $out ]] && out=$runs
}
