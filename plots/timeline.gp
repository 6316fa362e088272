# Rates over time, with the state of server and client below them on the same axis.
# Draw again after a change: gnuplot timeline.gp

load "common.gp"
load "timeline.settings.gp"

do for [kind in kinds] {
    load "over-time.gp"
}
