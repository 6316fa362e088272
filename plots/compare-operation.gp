# One operation of a comparison: the runs laid over each other, rate on the left and latency on the right (or two kinds of sizes).
# Loaded by compare-OPERATION.gp behind its settings.

load "common.gp"

# Not the operations' colours: here a colour is a run.
side_color(i) = word("#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #404040", (i - 1) % 6 + 1)
side_shape(i) = int(word("7 5 9 11 13 6", (i - 1) % 6 + 1))
field(i, k) = 1 + (i - 1) * 5 + k

do for [kind in kinds] {
    picture_height = 760 + 34 * side_count
    pixel = 1.0 / picture_height
    eval picture_terminal(kind, 1600, picture_height)
    eval picture_output(kind, chart)
    verdict_lines = strlen(verdict) == 0 ? 0 : (side_count > 2 ? side_count - 1 : 1)
    plot_top = 1.0 - (150 + 28 * verdict_lines + 34 * side_count) * pixel
    plot_bottom = 78 * pixel

    set multiplot
    set tmargin at screen plot_top
    set bmargin at screen plot_bottom
    set xrange [0:x_max]
    eval "set xtics ".x_tics
    set xlabel x_label textcolor rgb ink offset 0, 0.2

    set label 1 title at screen 0.018, 1.0 - 42 * pixel left font text_size(kind, 19) textcolor rgb ink noenhanced
    set label 2 verdict at screen 0.018, 1.0 - 88 * pixel left font text_size(kind, 14) textcolor rgb ink noenhanced
    do for [i = 1:side_count] {
        legend_y = 1.0 - (100 + 28 * verdict_lines + 34 * (i - 1)) * pixel
        set arrow 100 + i from screen 0.02, legend_y to screen 0.046, legend_y nohead front linewidth 2.5 linecolor rgb side_color(i)
        set label 100 + i " " at screen 0.033, legend_y point pointtype side_shape(i) pointsize shape_size(kind, 1.3) linecolor rgb side_color(i) front
        set label 200 + i side_title[i] at screen 0.054, legend_y left textcolor rgb ink noenhanced
    }

    set lmargin at screen 0.075
    set rmargin at screen 0.485
    unset logscale
    set yrange [0:y_max]
    eval "set ytics ".y_tics
    set label 5 left_title at graph 0, screen plot_top + 20 * pixel left textcolor rgb ink font text_size(kind, 13.5) noenhanced
    plot for [i = 1:side_count] data using 1:(column(field(i, 2))):(column(field(i, 3))) \
            with filledcurves fillstyle transparent solid 0.16 noborder fillcolor rgb side_color(i) notitle, \
        for [i = 1:side_count] data using 1:(column(field(i, 1))) with linespoints linewidth 2.5 linecolor rgb side_color(i) \
            pointtype side_shape(i) pointsize shape_size(kind, point_size) notitle

    unset label
    unset arrow
    set lmargin at screen 0.575
    set rmargin at screen 0.985
    if (right_is_log) { set logscale y }
    # A tick at the very end of a logarithmic axis falls to rounding.
    set yrange [right_is_log ? right_min * 0.999 : right_min:right_max]
    eval "set ytics ".right_tics
    set label 5 right_title at graph 0, screen plot_top + 20 * pixel left textcolor rgb ink font text_size(kind, 13.5) noenhanced
    plot for [i = 1:side_count] data using 1:(column(field(i, 4))) with linespoints linewidth 2.5 linecolor rgb side_color(i) \
            pointtype side_shape(i) pointsize shape_size(kind, point_size) notitle, \
        for [i = 1:side_count] data using 1:(column(field(i, 5))) with linespoints linewidth 1.8 dashtype (8, 6) linecolor rgb side_color(i) \
            pointtype side_shape(i) pointsize shape_size(kind, point_size * 0.7) notitle
    unset label
    unset logscale
    unset multiplot
    unset output
}
