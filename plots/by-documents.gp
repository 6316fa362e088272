# The frame of a chart over documents in the collection; insert-rate.gp, query-rate.gp, query-throughput.gp and size.gp load it.
# Wants kind, chart, title, subtitle, x_*, y_*, series_*, legend_*, mark_*.

eval picture_terminal(kind, 1600, 900)
eval picture_output(kind, chart)

left = 0.09
right = y2_tics ne "" ? 0.925 : exists("limit_label") ? 0.89 : 0.975
top = 0.875 - 0.034 * legend_rows - 0.032 * mark_rows
set lmargin at screen left
set rmargin at screen right
set tmargin at screen top
set bmargin at screen 0.09

set label 1 title at screen 0.018, 0.955 left font text_size(kind, 19) textcolor rgb ink noenhanced
set label 2 subtitle at screen 0.018, 0.908 left font text_size(kind, 12) textcolor rgb soft noenhanced
set label 3 y_label at screen 0.022, graph 0.5 center rotate by 90 textcolor rgb ink
set xlabel "documents in the collection" textcolor rgb ink offset 0, 0.3

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
