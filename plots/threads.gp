# Rate and latency against the number of threads.
# Draw again after a change: gnuplot threads.gp

panel_settings = "threads.settings.gp"
load "timeline.gp"
