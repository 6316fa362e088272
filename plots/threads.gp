# Rate and latency against the number of threads.
# Draw again after a change: gnuplot threads.gp

load "common.gp"
load "threads.settings.gp"

do for [kind in kinds] {
    load "over-time.gp"
}
