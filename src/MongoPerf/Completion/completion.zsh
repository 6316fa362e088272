#compdef mongoperf
# Completion of mongoperf for zsh, written by 'mongoperf completion zsh'; write it again after an update.

@TABLES@

_mongoperf() {
  local command= option= out=${MONGOPERF_RUNS:-} kind= list=
  local -i argument=1 i
  local -a commands options values found names

  for ((i = 2; i < CURRENT; i++)); do
    _mongoperf_take "${(Q)words[i]}"
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
