# Completion of mongoperf for bash, written by 'mongoperf completion bash'; write it again after an update.

@TABLES@

# Names of deployments, and the runs folder, of a project's file (in this folder) and the user's.
_mongoperf_configured() {
  local file line inside runs= a_folder='^runs: *([^ #]+)' a_name='^ +([A-Za-z0-9._-]+):'
  for file in ./mongoperf.yaml "${XDG_CONFIG_HOME:-$HOME/.config}/mongoperf/config.yaml"; do
    [[ -r $file ]] || continue
    inside=
    while IFS= read -r line; do
      if [[ ! $runs && $line =~ $a_folder ]]; then
        runs=${BASH_REMATCH[1]}
        [[ $runs == [/~]* ]] || runs=${file%/*}/$runs
      elif [[ $line == deployments:* ]]; then
        inside=1
      elif [[ $line == [a-z]* ]]; then
        inside=
      elif [[ $inside && $line =~ $a_name && ${BASH_REMATCH[1]} != @(uri|passwordFile) ]]; then
        names+=("@${BASH_REMATCH[1]}")
      fi
    done < "$file"
  done
  [[ $runs && ! $out ]] && out=$runs
}

_mongoperf() {
  local typed=${COMP_LINE:0:COMP_POINT} out=${MONGOPERF_RUNS:-}
  local command= option= argument=1 cur= before= word kind= list=
  local -a line=() commands=() options=() values=() names=()
  COMPREPLY=()
  read -ra line <<< "$typed"
  [[ $typed == *[[:space:]] ]] || { cur=${line[-1]}; unset 'line[-1]'; }

  # Which command is it, and what does the last word before the cursor ask for?
  for word in "${line[@]:1}"; do
    _mongoperf_words "$command"
    if [[ $option ]]; then
      [[ $option == --out ]] && out=$word
      option=
    elif [[ $word == --*=* ]]; then
      [[ $word == --out=* ]] && out=${word#*=}
    elif [[ $word == -* ]]; then
      _mongoperf_value "$command $word" && option=$word
    elif [[ ! $command && $word == help ]]; then
      :
    elif [[ " ${commands[*]} " == *" $word "* ]]; then
      command=${command:+$command }$word
    else
      ((++argument))
    fi
  done

  _mongoperf_words "$command"
  kind= list= values=()
  if [[ $cur == --*=* ]]; then
    option=${cur%%=*} cur=${cur#*=}
    _mongoperf_value "$command $option" || return 0
  elif [[ $cur == -* ]]; then
    values=("${options[@]}")
  elif [[ $option ]]; then
    _mongoperf_value "$command $option"
  elif ((${#commands[@]})); then
    values=("${commands[@]}")
  else
    _mongoperf_value "$command $argument" || _mongoperf_value "$command *" || values=("${options[@]}")
  fi

  [[ $list && $cur == *,* ]] && { before=${cur%,*}, cur=${cur##*,}; }
  case $kind in
    files) compopt -o default 2>/dev/null ;;
    folders) compopt -o dirnames 2>/dev/null ;;
    deployments)
      _mongoperf_configured
      values+=("${names[@]}") ;;
    runs)
      _mongoperf_configured
      out=${out:-runs}
      for word in "${out/#\~/$HOME}"/*/run.db; do
        word=${word%/run.db} word=${word##*/}
        [[ $word == '*' ]] || values+=("$word")
      done
      compopt -o dirnames 2>/dev/null ;;
    scenarios)
      for word in scenarios/*.yaml scenarios/*/*.yaml; do
        word=${word#scenarios/}
        [[ $word == *\** || $word == examples/* ]] || values+=("${word%.yaml}")
      done ;;
  esac
  case $kind in
    scenarios | plots)
      for word in "$cur"*.yaml "$cur"*.yml; do [[ -e $word ]] && values+=("$word"); done
      compopt -o default 2>/dev/null ;;
  esac

  # Not by compgen -W: it would run what a folder's name says.
  for word in "${values[@]}"; do
    [[ $word == "$cur"* ]] || continue
    printf -v word %q "$word"
    # Bash replaces what stands behind an @ only.
    [[ $cur == @* && ${COMP_WORDBREAKS-} == *@* ]] && word=${word#@}
    COMPREPLY+=("$before$word")
  done
}

complete -F _mongoperf mongoperf
