# Metrics of a scenario against a parameter, documents, deployments or time, a panel for each.
# Loaded by figure-N.gp and sweep-N.gp behind their settings.

load "common.gp"

do for [kind in kinds] {
    load "over-time.gp"
}
