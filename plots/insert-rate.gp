# Documents inserted per second as the collection grows; the same in MB/s on the right.
# Draw again after a change: gnuplot insert-rate.gp

load "common.gp"
load "insert-rate.settings.gp"

do for [kind in kinds] {
    load "by-documents.gp"
    if (y2_tics ne "") {
        set border 11
        set y2range [0:y_max * y2_per_y]
        eval "set y2tics ".y2_tics
        set label 4 y2_label at screen 0.985, graph 0.5 center rotate by 90 textcolor rgb ink
    }
    plot for [i = 1:series_count] data using 1:(column(i + 1)) \
        with linespoints linewidth 2.5 linecolor rgb color(series_color[i]) dashtype series_dash[i] \
        pointtype shape(series_color[i]) pointsize shape_size(kind, point_size) notitle
    unset output
}
