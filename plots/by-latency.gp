# Latency percentiles as the collection grows: a panel for each operation and number of threads, all on one logarithmic scale.
# Loaded by latency.gp behind its settings.

load "common.gp"

do for [kind in kinds] {
    eval picture_terminal(kind, 1600, picture_height)
    eval picture_output(kind, chart)

    # Heights as shares of the picture's, from what they are in pixels.
    pixel = 1.0 / picture_height
    head = (note eq "" ? 132 : 165) * pixel
    left = 0.06
    across = (0.99 - left) / panel_columns
    down = (1.0 - head - 45 * pixel) / panel_rows

    set multiplot
    set xrange [0:x_max]
    set logscale y
    # A tick at the very end of a logarithmic axis falls to rounding.
    set yrange [y_min * 0.999:y_max]
    eval "set xtics ".x_tics
    do for [panel = 1:panel_count] {
        panel_x = (panel - 1) % panel_columns
        panel_y = (panel - 1) / panel_columns
        panel_top = 1.0 - head - panel_y * down - 34 * pixel
        set lmargin at screen left + panel_x * across + 0.008
        set rmargin at screen left + (panel_x + 1) * across - 0.012
        set tmargin at screen panel_top
        set bmargin at screen 1.0 - head - (panel_y + 1) * down + 32 * pixel

        unset label
        unset arrow
        if (panel == 1) {
            set label 1 title at screen 0.018, 1.0 - 40 * pixel left font text_size(kind, 19) textcolor rgb ink noenhanced
            set label 2 subtitle at screen 0.018, 1.0 - 83 * pixel left font text_size(kind, 12) textcolor rgb soft noenhanced
            set label 3 text_documents at screen 0.5, 22 * pixel center textcolor rgb ink
            set label 4 note at screen left + 0.008, 1.0 - 154 * pixel left font text_size(kind, 11.5) textcolor rgb mark_color noenhanced
            do for [i = 1:series_count] {
                legend_x = left + 0.008 + (i - 1) * 0.2
                set arrow 100 + i from screen legend_x, 1.0 - 119 * pixel to screen legend_x + 0.026, 1.0 - 119 * pixel nohead front \
                    linewidth 2.5 linecolor rgb color(series_color[i])
                set label 100 + i " " at screen legend_x + 0.013, 1.0 - 119 * pixel \
                    point pointtype shape(series_color[i]) pointsize shape_size(kind, 1.2) linecolor rgb color(series_color[i]) front
                set label 200 + i series_title[i] at screen legend_x + 0.033, 1.0 - 119 * pixel left textcolor rgb ink noenhanced
            }
        }
        set label 5 panel_title[panel] at graph 0, screen panel_top + 16 * pixel left textcolor rgb color(panel_color[panel]) \
            font text_size(kind, 13.5) noenhanced
        do for [i = 1:mark_count] {
            set arrow 10 + i from mark_x[i], graph 0 to mark_x[i], graph 1 nohead dashtype 2 linewidth 1.5 linecolor rgb mark_color back
        }
        eval "set ytics ".(panel_x == 0 ? y_tics : y_bare_tics)

        plot for [i = 1:series_count] data using 1:(column((panel - 1) * series_count + i + 1)) \
            with linespoints linewidth 2 linecolor rgb color(series_color[i]) \
            pointtype shape(series_color[i]) pointsize shape_size(kind, point_size) notitle
    }
    unset multiplot
    unset output
}
