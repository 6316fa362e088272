# A server's rate and state over the time since it was started again, each way to end it a line.
# Draw again after a change: gnuplot restart.gp

panel_settings = "restart.settings.gp"
load "timeline.gp"
