# What each shard holds and does over time, with the migrations of chunks shaded.
# Draw again after a change: gnuplot shards.gp

load "common.gp"
load "shards.settings.gp"

do for [kind in kinds] {
    load "over-time.gp"
}
