# Rate, and below it the 99th percentile of latency, against a parameter of a scenario.
# Loaded by sweep-N.gp behind its settings.

load "common.gp"

do for [kind in kinds] {
    eval picture_terminal(kind, 1600, 1000)
    eval picture_output(kind, chart)
    left = 0.085
    right = 0.84
    set lmargin at screen left
    set rmargin at screen right

    set multiplot
    if (x_logarithmic == 1) { set logscale x }
    set xrange [x_min:x_max]

    set tmargin at screen 0.83
    set bmargin at screen 0.44
    set label 1 title at screen 0.018, 0.955 left font text_size(kind, 19) textcolor rgb ink noenhanced
    set label 2 subtitle at screen 0.018, 0.912 left font text_size(kind, 12) textcolor rgb soft noenhanced
    set label 3 "operations/s" at screen 0.018, screen 0.635 center rotate by 90 textcolor rgb ink
    do for [i = 1:series_count] {
        legend_y = 0.83 - 0.012 - 0.030 * (i - 1)
        set arrow 100 + i from screen right + 0.012, legend_y to screen right + 0.030, legend_y nohead front linewidth 3 linecolor rgb color(series_color[i])
        set label 100 + i series_title[i] at screen right + 0.036, legend_y left textcolor rgb ink font text_size(kind, 12) noenhanced
    }
    do for [i = 1:mark_count] {
        eval sprintf("set label %d mark_text[%d] at graph mark_x[%d], screen 0.850 %s textcolor rgb mark_color font '%s' noenhanced", \
            10 + i, i, i, mark_side[i], text_size(kind, 11.5))
    }
    if (knee > 0) { set arrow 10 from knee, graph 0 to knee, graph 1 nohead dashtype 2 linewidth 1.5 linecolor rgb mark_color back }
    eval "set xtics ".x_tics
    set format x ""
    eval "set ytics ".y_tics
    set yrange [0:y_max]
    plot for [i = 1:series_count] data using 1:(column(1 + i)) with linespoints linewidth (is_numeric == 1 ? 2.2 : 0) \
        linecolor rgb color(series_color[i]) pointtype 7 pointsize shape_size(kind, 1.1) notitle

    unset label
    unset arrow
    if (knee > 0) { set arrow 10 from knee, graph 0 to knee, graph 1 nohead dashtype 2 linewidth 1.5 linecolor rgb mark_color back }
    set tmargin at screen 0.38
    set bmargin at screen 0.09
    set label 3 "latency, p99" at screen 0.018, screen 0.235 center rotate by 90 textcolor rgb ink
    set xlabel x_label textcolor rgb ink offset 0, 0.3 noenhanced
    set logscale y
    set yrange [latency_min:latency_max]
    eval "set ytics ".latency_tics
    plot for [i = 1:series_count] data using 1:(column(1 + series_count + i)) with linespoints linewidth (is_numeric == 1 ? 2.2 : 0) \
        linecolor rgb color(series_color[i]) pointtype 7 pointsize shape_size(kind, 1.1) notitle
    unset multiplot
    unset logscale
    unset label
    unset arrow
    unset xlabel
    unset output
}
