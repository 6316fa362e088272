# How long each lap of a phase's tasks took: the tasks' median, in a band from the fastest to the slowest.
# Loaded by laps-N.gp and compare-laps-N.gp behind their settings.

load "common.gp"

# Told apart without colours too.
series_shape(i) = int(word("7 5 9 11 13 6 4 8", i))
field(i, k) = 1 + (i - 1) * columns_per_series + k

do for [kind in kinds] {
    picture_height = 760 + 34 * series_count
    pixel = 1.0 / picture_height
    eval picture_terminal(kind, 1600, picture_height)
    eval picture_output(kind, chart)

    set lmargin at screen 0.085
    set rmargin at screen 0.985
    set tmargin at screen 1.0 - (130 + 34 * series_count) * pixel
    set bmargin at screen 80 * pixel
    set label 1 title at screen 0.018, 1.0 - 40 * pixel left font text_size(kind, 19) textcolor rgb ink noenhanced
    set label 2 subtitle at screen 0.018, 1.0 - 78 * pixel left font text_size(kind, 12) textcolor rgb soft noenhanced
    set label 3 y_label at screen 0.018, graph 0.5 center rotate by 90 textcolor rgb ink noenhanced
    do for [i = 1:series_count] {
        legend_y = 1.0 - (112 + 34 * (i - 1)) * pixel
        set arrow 100 + i from screen 0.02, legend_y to screen 0.046, legend_y nohead front linewidth 2.5 linecolor rgb color(series_color[i])
        set label 100 + i " " at screen 0.033, legend_y point pointtype series_shape(i) pointsize shape_size(kind, 1.2) linecolor rgb color(series_color[i]) front
        set label 200 + i series_title[i] at screen 0.054, legend_y left textcolor rgb ink noenhanced
    }

    set xrange [0:x_max]
    set yrange [0:y_max]
    eval "set xtics ".x_tics
    eval "set ytics ".y_tics
    set xlabel x_label textcolor rgb ink offset 0, 0.2 noenhanced
    plot for [i = 1:series_count] data using 1:(column(field(i, 2))):(column(field(i, 3))) \
            with filledcurves fillstyle transparent solid 0.16 noborder fillcolor rgb color(series_color[i]) notitle, \
        for [i = 1:series_count] data using 1:(column(field(i, 1))) with linespoints linewidth 2.5 linecolor rgb color(series_color[i]) \
            pointtype series_shape(i) pointsize shape_size(kind, point_size) notitle
    unset label
    unset arrow
    unset xlabel
    unset output
}
