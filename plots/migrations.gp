# Insert rate second by second, with the migrations of chunks shaded.
# Draw again after a change: gnuplot migrations.gp

load "common.gp"
load "migrations.settings.gp"

do for [kind in kinds] {
    load "over-time.gp"
}
