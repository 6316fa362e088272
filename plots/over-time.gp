# Panels above each other on one axis, of time or another, with shaded stretches and marked moments; figure.gp and compare-shards.gp load it.
# Wants kind, chart, title, subtitle, x_*, documents_tics, panel_*, line_*, mark_*, band_*; the axis begins at 0 and is linear unless x_* say otherwise.

if (!exists("x_min")) { x_min = 0 }
if (!exists("x_logarithmic")) { x_logarithmic = 0 }
if (!exists("x_numeric")) { x_numeric = 1 }
if (!exists("x_sloping")) { x_sloping = 0 }

head_pixels = 150 + 26 * mark_rows
foot_pixels = x_sloping == 1 ? 125 : 60
picture_height = head_pixels + panel_count * panel_pixels + foot_pixels
eval picture_terminal(kind, 1600, picture_height)
eval picture_output(kind, chart)

pixel = 1.0 / picture_height
left = 0.085
right = 0.84
set lmargin at screen left
set rmargin at screen right

density(name) = name eq "others" ? 0.45 : 1.0

set multiplot
if (x_logarithmic == 1) { set logscale x }
set xrange [x_min:x_max]
do for [panel = 1:panel_count] {
    panel_top = 1.0 - (head_pixels + (panel - 1) * panel_pixels) * pixel
    set tmargin at screen panel_top
    set bmargin at screen panel_top - (panel_pixels - 24) * pixel

    unset label
    unset arrow
    unset object
    unset x2tics
    if (panel == 1) {
        # A long line shrinks rather than leaves the picture.
        set label 1 title at screen 0.018, 1.0 - 40 * pixel left font text_size(kind, fitting_size(title, 19, 100)) textcolor rgb ink noenhanced
        set label 2 subtitle at screen 0.018, 1.0 - 83 * pixel left font text_size(kind, fitting_size(subtitle, 12, 165)) textcolor rgb soft noenhanced
        if (documents_tics ne "") {
            set x2range [0:x_max]
            eval "set x2tics ".documents_tics
            set label 3 text_documents_short at screen left - 0.008, panel_top + 24 * pixel right font text_size(kind, 12) textcolor rgb soft
        }
        do for [i = 1:mark_count] {
            eval sprintf("set label %d mark_text[%d] at first mark_x[%d], screen %f %s textcolor rgb mark_color font '%s' noenhanced", \
                10 + i, i, i, panel_top + (20 + 26 * mark_row[i]) * pixel, mark_side[i], text_size(kind, 11.5))
        }
    }
    do for [i = 1:mark_count] {
        set arrow 10 + i from mark_x[i], graph 0 to mark_x[i], graph 1 nohead dashtype 2 linewidth 1.5 linecolor rgb mark_color back
    }
    set label 4 panel_title[panel] at screen 0.018, graph 0.5 center rotate by 90 textcolor rgb ink noenhanced
    do for [i = 1:band_count] {
        # Other programs lie over migrations, which shine through.
        set object 10 + i rectangle from first band_from[i], graph 0 to first band_to[i], graph 1 behind \
            fillstyle transparent solid density(band_color[i]) noborder fillcolor rgb color(band_color[i])
    }
    if (panel_limit[panel] > 0) {
        set arrow 5 from graph 0, first panel_limit[panel] to graph 1, first panel_limit[panel] nohead dashtype 3 linewidth 2 linecolor rgb color("limit")
        legend_y = panel_top - 14 * pixel
        set arrow 6 from screen right + 0.012, legend_y to screen right + 0.030, legend_y nohead front dashtype 3 linewidth 2 linecolor rgb color("limit")
        set label 6 panel_limit_label[panel] at screen right + 0.036, legend_y left textcolor rgb ink font text_size(kind, 12)
    }

    lines = 0
    first_line = 0
    do for [i = 1:line_count] {
        if (line_panel[i] == panel) {
            if (lines == 0) { first_line = i }
            lines = lines + 1
            lines_above = line_place[i]
            if (line_title[i] ne "") {
                legend_y = panel_top - (14 + 27 * line_place[i]) * pixel
                set arrow 100 + i from screen right + 0.012, legend_y to screen right + 0.030, legend_y nohead front \
                    linewidth 3 linecolor rgb color(line_color[i])
                set label 100 + i line_title[i] at screen right + 0.036, legend_y left textcolor rgb ink font text_size(kind, 12) noenhanced
            }
        }
    }

    if (panel == 1) {
        do for [kind_of_band = 1:3] {
            name = word("migration migration_failed others", kind_of_band)
            bands = 0
            do for [i = 1:band_count] { if (band_color[i] eq name) { bands = bands + 1 } }
            if (bands > 0) {
                lines_above = lines_above + 1
                legend_y = panel_top - (14 + 27 * lines_above) * pixel
                set object 5 + kind_of_band rectangle from screen right + 0.012, legend_y - 8 * pixel to screen right + 0.030, legend_y + 8 * pixel \
                    front fillstyle transparent solid density(name) noborder fillcolor rgb color(name)
                set label 6 + (kind_of_band) (name eq "migration" ? text_migration : name eq "migration_failed" ? text_failed_migration : text_other_programs) \
                    at screen right + 0.036, legend_y left textcolor rgb ink font text_size(kind, 12)
            }
        }
    }

    if (panel == panel_count) { set xlabel x_label textcolor rgb ink offset 0, 0.3 noenhanced }
    eval "set xtics ".(panel == panel_count && x_sloping == 1 ? "rotate by -20 " : "norotate ").(panel == panel_count ? x_tics : x_bare_tics)." noenhanced"
    if (panel_log_from[panel] > 0) {
        set logscale y
        # A tick at the very end of a logarithmic axis falls to rounding.
        set yrange [panel_log_from[panel] * 0.999:panel_y_max[panel]]
    } else {
        unset logscale y
        set yrange [0:panel_y_max[panel]]
    }
    eval "set ytics ".panel_y_tics[panel]
    if (x_numeric == 1) {
        plot for [i = first_line:first_line + lines - 1] line_file[i] using 1:(column(line_column[i])) \
            with linespoints linewidth 1.6 linecolor rgb color(line_color[i]) \
            pointtype (panel_points[panel] > 0 ? 7 : -1) pointsize shape_size(kind, panel_points[panel]) notitle
    } else {
        # Names stand apart, beside each other: bars, or points where the axis has no 0.
        set boxwidth bar_width * 0.94 absolute
        beside(i) = (line_index[i] - (bar_count - 1) / 2.0) * bar_width
        if (panel_log_from[panel] > 0) {
            plot for [i = first_line:first_line + lines - 1] line_file[i] using ($1 + beside(i)):(column(line_column[i])) \
                with points linecolor rgb color(line_color[i]) pointtype 7 pointsize shape_size(kind, 1.4) notitle
        } else {
            plot for [i = first_line:first_line + lines - 1] line_file[i] using ($1 + beside(i)):(column(line_column[i])) \
                with boxes fillstyle solid 0.9 noborder linecolor rgb color(line_color[i]) notitle
        }
    }
    unset xlabel
}
unset multiplot
unset logscale
unset output
