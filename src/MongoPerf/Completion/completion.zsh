#compdef mongoperf
# Completion of mongoperf for zsh, written by 'mongoperf completion zsh'; write it again after an update.

@TABLES@

# Names of deployments, and the runs folder, of a project's file (in this folder) and the user's.
_mongoperf_configured() {
  local file line inside runs=
  local -a match mbegin mend
  for file in ./mongoperf.yaml "${XDG_CONFIG_HOME:-$HOME/.config}/mongoperf/config.yaml"; do
    [[ -r $file ]] || continue
    inside=
    while IFS= read -r line; do
      if [[ -z $runs && $line =~ '^runs: *([^ #]+)' ]]; then
        runs=$match[1]
        [[ $runs == [/~]* ]] || runs=${file%/*}/$runs
      elif [[ $line == deployments:* ]]; then
        inside=1
      elif [[ $line == [a-z]* ]]; then
        inside=
      elif [[ -n $inside && $line =~ '^ +([A-Za-z0-9._-]+):' && $match[1] != (uri|passwordFile) ]]; then
        names+=("@$match[1]")
      fi
    done < "$file"
  done
  [[ -n $runs && -z $out ]] && out=$runs
}

_mongoperf() {
  local command= option= out=${MONGOPERF_RUNS:-} word kind= list=
  local -i argument=1 i
  local -a commands options values found names

  # Which command is it, and what does the last word before the cursor ask for?
  for ((i = 2; i < CURRENT; i++)); do
    word=${(Q)words[i]}
    _mongoperf_words "$command"
    if [[ -n $option ]]; then
      [[ $option == --out ]] && out=$word
      option=
    elif [[ $word == --*=* ]]; then
      [[ $word == --out=* ]] && out=${word#*=}
    elif [[ $word == -* ]]; then
      _mongoperf_value "$command $word" && option=$word
    elif [[ -z $command && $word == help ]]; then
      :
    elif (( ${commands[(I)${(b)word}:*]} )); then
      command="${command:+$command }$word"
    else
      (( ++argument ))
    fi
  done

  _mongoperf_words "$command"
  kind= list= values=()
  if [[ $PREFIX == --*=* ]]; then
    option=${PREFIX%%=*}
    compset -P '*='
    _mongoperf_value "$command $option" || return 1
  elif [[ $PREFIX == -* ]]; then
    _describe -o option options
    return
  elif [[ -n $option ]]; then
    _mongoperf_value "$command $option"
  elif (( $#commands )); then
    _describe command commands
    return
  elif ! _mongoperf_value "$command $argument" && ! _mongoperf_value "$command *"; then
    _describe -o option options
    return
  fi

  [[ -n $list ]] && compset -P '*,'
  local -i status_=1
  (( $#values )) && compadd -a values && status_=0
  case $kind in
    files) _files && status_=0 ;;
    folders) _files -/ && status_=0 ;;
    deployments)
      _mongoperf_configured
      compadd -a names && status_=0 ;;
    runs)
      _mongoperf_configured
      out=${out:-runs}
      found=("${out/#\~/$HOME}"/*/run.db(N:h:t))
      compadd -a found && status_=0
      [[ $PREFIX == */* ]] && _files -/ && status_=0 ;;
    scenarios)
      found=(scenarios/**/*.yaml(N))
      found=(${${${found#scenarios/}%.yaml}:#examples/*})
      compadd -a found && status_=0
      _files -g '*.(yaml|yml)' && status_=0 ;;
    plots) _files -g '*.(yaml|yml)' && status_=0 ;;
  esac
  return status_
}

if [[ $funcstack[1] == _mongoperf ]]; then
  _mongoperf "$@"
else
  compdef _mongoperf mongoperf
fi
