# All operations of a comparison: the candidates' rates as shares of the baseline's, with 95 % intervals.
# Loaded by compare-ratios.gp behind its settings.

load "common.gp"

side_color(i) = word("#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #404040", (i - 1) % 6 + 1)
side_shape(i) = int(word("7 5 9 11 13 6", (i - 1) % 6 + 1))

do for [kind in kinds] {
    height = picture_height + 34 * side_count
    pixel = 1.0 / height
    eval picture_terminal(kind, 1600, height)
    eval picture_output(kind, chart)

    plot_top = 1.0 - (100 + 34 * side_count) * pixel
    set lmargin at screen plot_left
    set rmargin at screen 0.70
    set tmargin at screen plot_top
    set bmargin at screen 80 * pixel
    set xrange [x_low:x_high]
    set yrange [row_count + 0.6:0.4]
    set xlabel text_ratio textcolor rgb ink
    unset ytics
    set logscale x
    eval "set xtics ".x_tics
    set grid xtics noytics back linetype 1 linecolor rgb thin linewidth 1

    set label 1 title at screen 0.018, 1.0 - 42 * pixel left font text_size(kind, 19) textcolor rgb ink noenhanced
    do for [i = 1:side_count] {
        legend_y = 1.0 - (84 + 34 * (i - 1)) * pixel
        if (i > 1) {
            set label 100 + i " " at screen 0.033, legend_y point pointtype side_shape(i) pointsize shape_size(kind, 1.4) linecolor rgb side_color(i) front
        }
        set label 200 + i side_title[i] at screen 0.054, legend_y left textcolor rgb ink noenhanced
    }

    set object 1 rectangle from 1 - noise, graph 0 to 1 + noise, graph 1 behind fillcolor rgb "#ECECEC" fillstyle solid noborder
    set arrow 1 from 1, graph 0 to 1, graph 1 nohead linewidth 1.5 linecolor rgb soft back
    do for [i = 1:row_count] {
        set label 300 + i row_name[i] at screen plot_left - 0.008, first i right textcolor rgb ink noenhanced
        set label 400 + i row_text[i] at screen 0.712, first i left textcolor rgb ink noenhanced
    }

    plot for [i = 2:side_count] data using (column(5) == i ? column(2) : NaN):1:3:4 with xerrorbars linewidth 2.5 linecolor rgb side_color(i) \
        pointtype side_shape(i) pointsize shape_size(kind, 1.5) notitle
    unset label
    unset arrow
    unset object
    unset output
}
