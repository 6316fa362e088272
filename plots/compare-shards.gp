# The shards of one run of a comparison over time.
# Loaded by compare-shards-RUN.gp behind its settings.

load "common.gp"

do for [kind in kinds] {
    load "over-time.gp"
}
