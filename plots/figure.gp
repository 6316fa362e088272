# Panels above each other on one axis: rates and the state of server and client over time, shards, migrations, restarts, a scenario's figures.
# Loaded by timeline.gp, shards.gp, migrations.gp, restart.gp, figure-N.gp and sweep-N.gp behind their settings.

load "common.gp"

do for [kind in kinds] {
    load "over-time.gp"
}
