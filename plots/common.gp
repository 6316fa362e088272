# What all charts share: pictures, palette, margins, title, marks. Numbers come from CHART.settings.gp, written by the program.
# Made for gnuplot 5.4. Colours: Okabe and Ito, "Color Universal Design" (2008), told apart by colour-blind readers too.

# What templates themselves say; CHART.settings.gp has it in other languages.
if (!exists("text_documents")) text_documents = "documents in the collection"
if (!exists("text_documents_short")) text_documents_short = "documents"
if (!exists("text_ratio")) text_ratio = "candidate to baseline: left of 1 is slower, right of 1 is faster"
if (!exists("text_migration")) text_migration = "chunk migrating"
if (!exists("text_failed_migration")) text_failed_migration = "failed migration"
if (!exists("text_other_programs")) text_other_programs = "other programs"

set encoding utf8
set datafile separator "\t"
set datafile missing "?"

color(name) = \
    name[1:1] eq "o" && strlen(name) == 2 ? word("#E69F00 #0072B2 #009E73 #D55E00 #56B4E9 #CC79A7 #404040 #8A2BE2", int(name[2:*])) : \
    name eq "p50" ? "#86BFE0" : name eq "p95" ? "#4592C6" : name eq "p99" ? "#185FA5" : name eq "p999" ? "#08305E" : name eq "service" ? "#D55E00" : \
    name eq "data" ? "#0072B2" : name eq "index" ? "#D55E00" : name eq "storage" ? "#009E73" : name eq "disk" ? "#404040" : \
    name eq "s1" ? "#0072B2" : name eq "s2" ? "#D55E00" : name eq "s3" ? "#009E73" : name eq "s4" ? "#CC79A7" : \
    name eq "s5" ? "#E69F00" : name eq "s6" ? "#56B4E9" : name eq "s7" ? "#404040" : name eq "s8" ? "#8A2BE2" : \
    name eq "limit" ? "#A00000" : name eq "read" ? "#0072B2" : name eq "written" ? "#D55E00" : \
    name eq "others" ? "#F2D48A" : name eq "migration" ? "#E6DFF5" : name eq "migration_failed" ? "#F9D9D5" : \
    name[1:5] eq "shard" ? word("#0072B2 #D55E00 #009E73 #E69F00 #CC79A7 #404040", int(name[6:*])) : \
    name eq "server" ? "#0072B2" : name eq "client" ? "#E69F00" : name eq "host" ? "#909090" : "#404040"

# Each has its shape too, so that a copy without colours can be read.
place(name) = \
    name[1:1] eq "o" && strlen(name) == 2 ? (int(name[2:*]) - 1) % 4 + 1 : \
    name eq "p50" || name eq "disk" ? 1 : name eq "p95" || name eq "data" ? 2 : name eq "p99" || name eq "storage" ? 3 : 4
shape(name) = int(word("7 5 9 11", place(name)))

ink = "#202020"
soft = "#606060"
thin = "#DDDDDD"
mark_color = "#8A2BE2"

picture_terminal(kind, wide, high) = kind eq "svg" \
    ? sprintf("set terminal svg enhanced size %d,%d dynamic background rgb 'white' font 'sans-serif,17'", wide, high) \
    : sprintf("set terminal pngcairo enhanced size %d,%d background rgb 'white' font 'sans-serif,13.5'", wide, high)
picture_output(kind, name) = sprintf("set output '%s.%s'", name, kind)

# Text sizes beside the text's own: pngcairo counts in points, svg in pixels.
text_size(kind, size) = sprintf(",%g", kind eq "svg" ? size * 1.26 : size)

# For a line that has room for so many characters at its usual size.
fitting_size(text, size, characters) = strlen(text) > characters ? size * characters / strlen(text) : size

set border 3 linecolor rgb soft linewidth 1
set tics nomirror out scale 0.5 textcolor rgb ink
set grid xtics ytics back linetype 1 linecolor rgb thin linewidth 1
set style line 100 linetype 1 linecolor rgb soft linewidth 1
unset key

# pngcairo and svg draw the same point size differently.
shape_size(kind, size) = kind eq "svg" ? size * 0.6 : size
