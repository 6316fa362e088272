# A server's rate and state over the time since it was started again, each way to end it a line.
# Draw again after a change: gnuplot restart.gp

load "common.gp"
load "restart.settings.gp"

do for [kind in kinds] {
    load "over-time.gp"
}
