# Completion of mongoperf for bash, written by 'mongoperf completion bash'; write it again after an update.

@TABLES@

_mongoperf() {
  local typed=${COMP_LINE:0:COMP_POINT} out=${MONGOPERF_RUNS:-}
  local command= option= argument=1 cur= before= word kind= list=
  local -a line=() commands=() options=() values=() names=()
  COMPREPLY=()
  read -ra line <<< "$typed"
  [[ $typed == *[[:space:]] ]] || { cur=${line[-1]}; unset 'line[-1]'; }

  for word in "${line[@]:1}"; do
    _mongoperf_take "$word"
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
