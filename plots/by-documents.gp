# A chart over documents in the collection, with a second scale on the right or a limit across where the settings have them.
# Loaded by insert-rate.gp, query-rate.gp, query-throughput.gp and size.gp behind their settings.

load "common.gp"

has_y2 = exists("y2_tics") && y2_tics ne ""

do for [kind in kinds] {
    eval picture_terminal(kind, 1600, 900)
    eval picture_output(kind, chart)

    left = 0.09
    right = has_y2 ? 0.925 : exists("limit_label") ? 0.89 : 0.975
    top = 0.875 - 0.034 * legend_rows - 0.032 * mark_rows
    set lmargin at screen left
    set rmargin at screen right
    set tmargin at screen top
    set bmargin at screen 0.09

    set label 1 title at screen 0.018, 0.955 left font text_size(kind, 19) textcolor rgb ink noenhanced
    set label 2 subtitle at screen 0.018, 0.908 left font text_size(kind, 12) textcolor rgb soft noenhanced
    set label 3 y_label at screen 0.022, graph 0.5 center rotate by 90 textcolor rgb ink
    set xlabel text_documents textcolor rgb ink offset 0, 0.3

    set xrange [0:x_max]
    set yrange [0:y_max]
    eval "set xtics ".x_tics
    eval "set ytics ".y_tics

    # The legend: a row of lines with their shapes above the plot, where it covers nothing.
    do for [i = 1:series_count] {
        legend_x = left + (i - 1) % legend_columns * (right - left) / legend_columns
        legend_y = 0.868 - (i - 1) / legend_columns * 0.034
        set arrow 100 + i from screen legend_x, legend_y to screen legend_x + 0.026, legend_y nohead front \
            linewidth 2.5 linecolor rgb color(series_color[i]) dashtype series_dash[i]
        set label 100 + i " " at screen legend_x + 0.013, legend_y point pointtype shape(series_color[i]) pointsize shape_size(kind, 1.3) linecolor rgb color(series_color[i]) front
        set label 200 + i series_title[i] at screen legend_x + 0.033, legend_y left textcolor rgb ink noenhanced
    }

    do for [i = 1:mark_count] {
        set arrow 10 + i from mark_x[i], graph 0 to mark_x[i], graph 1 nohead dashtype 2 linewidth 1.5 linecolor rgb mark_color back
        eval sprintf("set label %d mark_text[%d] at first mark_x[%d], screen %f %s textcolor rgb mark_color font '%s' noenhanced", \
            10 + i, i, i, top + 0.018 + 0.030 * (mark_row[i] - 1), mark_side[i], text_size(kind, 11.5))
    }

    if (has_y2) {
        set border 11
        set y2range [0:y_max * y2_per_y]
        eval "set y2tics ".y2_tics
        set label 4 y2_label at screen 0.985, graph 0.5 center rotate by 90 textcolor rgb ink
    }
    if (exists("limit_label")) {
        set arrow 5 from graph 0, first limit to graph 1, first limit nohead dashtype 3 linewidth 2 linecolor rgb color("limit")
        set label 5 limit_label at screen right + 0.008, first limit left textcolor rgb color("limit") font text_size(kind, 12)
    }

    plot for [i = 1:series_count] data using 1:(column(i + 1)) \
        with linespoints linewidth 2.5 linecolor rgb color(series_color[i]) dashtype series_dash[i] \
        pointtype shape(series_color[i]) pointsize shape_size(kind, point_size) notitle
    unset output
}
