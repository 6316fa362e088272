# What documents and indexes occupy, with the server's cache limit as a dashed line.
# Draw again after a change: gnuplot size.gp

load "common.gp"
load "size.settings.gp"

do for [kind in kinds] {
    load "by-documents.gp"
    if (exists("limit_label")) {
        set arrow 5 from graph 0, first limit to graph 1, first limit nohead dashtype 3 linewidth 2 linecolor rgb color("limit")
        set label 5 limit_label at screen right + 0.008, first limit left textcolor rgb color("limit") font text_size(kind, 12)
    }
    plot for [i = 1:series_count] data using 1:(column(i + 1)) \
        with linespoints linewidth 2.5 linecolor rgb color(series_color[i]) dashtype series_dash[i] \
        pointtype shape(series_color[i]) pointsize shape_size(kind, point_size) notitle
    unset output
}
