# Queries answered per second as the collection grows.
# Draw again after a change: gnuplot query-rate.gp

load "common.gp"
load "query-rate.settings.gp"

do for [kind in kinds] {
    load "by-documents.gp"
    plot for [i = 1:series_count] data using 1:(column(i + 1)) \
        with linespoints linewidth 2.5 linecolor rgb color(series_color[i]) dashtype series_dash[i] \
        pointtype shape(series_color[i]) pointsize shape_size(kind, point_size) notitle
    unset output
}
