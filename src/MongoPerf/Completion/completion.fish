# Completion of mongoperf for fish, written by 'mongoperf completion fish'; write it again after an update.

function __mongoperf_at
    test (__mongoperf_command) = "$argv"
end

# What is typed of a value.
function __mongoperf_token
    string replace -r -- '^--[a-z-]+=' '' (commandline -ct)
end

# Words behind the last comma of what is typed.
function __mongoperf_list
    set -l before (string match -r -- '^.*,' (__mongoperf_token))
    for word in $argv
        echo "$before$word"
    end
end

# A project's file (in this folder) and the user's.
function __mongoperf_files
    set -l config "$HOME/.config"
    test -n "$XDG_CONFIG_HOME"; and set config $XDG_CONFIG_HOME
    for file in ./mongoperf.yaml $config/mongoperf/config.yaml
        test -f $file -a -r $file; and echo $file
    end
end

function __mongoperf_deployments
    for file in (__mongoperf_files)
        set -l inside
        while read -l line
            if string match -q -- 'deployments:*' $line
                set inside 1
            else if string match -qr -- '^[a-z]' $line
                set inside
            else if test -n "$inside"
                set -l name (string match -r -- '^ +([A-Za-z0-9._-]+):' $line)[2]
                test -n "$name"; and not contains -- $name uri passwordFile; and echo "@$name"
            end
        end <$file
    end
end

function __mongoperf_runs
    set -l out
    for file in (__mongoperf_files)
        set -l runs (string match -r -- '^runs: *([^ #]+)' <$file)[2]
        test -n "$runs" -a -z "$out"; or continue
        set out $runs
        string match -q -- '[/~]*' $out; or set out (path dirname $file)/$out
    end
    test -n "$out"; or set out runs
    test -n "$MONGOPERF_RUNS"; and set out $MONGOPERF_RUNS
    set -l typed (commandline -opc)
    for i in (seq (count $typed))
        if string match -q -- '--out=*' $typed[$i]
            set out (string replace -- '--out=' '' $typed[$i])
        else if test "$typed[$i]" = --out -a $i -lt (count $typed)
            set out $typed[(math $i + 1)]
        end
    end
    set out (string replace -r -- '^~' $HOME $out)
    for run in $out/*/run.db
        string replace -r -- '.*/([^/]+)/run\.db$' '$1' $run
    end
end

function __mongoperf_yaml
    printf '%s\n' $argv
    __fish_complete_suffix .yaml
end

function __mongoperf_scenarios
    for scenario in scenarios/**.yaml
        string match -q -- 'scenarios/examples/*' $scenario
        or string replace -r -- '^scenarios/(.*)\.yaml$' '$1' $scenario
    end
    __mongoperf_yaml $argv
end

complete -c mongoperf -f
@TABLES@
