# Collectives beside Open MPI: gnuplot docs/collectives.gp >docs/collectives.svg
# The figures are those of docs/performance.md, "Collectives by the targets".
$rows << END
"barrier"             0.74 0.75
"named barrier"       0.74 0.75
"broadcast 8 B"       0.54 0.60
"broadcast 64 KiB"    0.41 0.90
"broadcast 1 MiB"     0.64 0.90
"reduce to all 8 B"   0.67 0.70
"reduce to all 64 KiB" 0.49 0.95
"reduce to all 1 MiB" 0.68 0.95
"exchange 8 B"        0.65 0.70
"exchange 64 KiB"     0.98 0.90
"gather 8 B"          0.55 0.80
"gather 64 KiB"       0.63 0.80
"scatter 8 B"         0.64 0.80
"scatter 64 KiB"      0.77 0.80
"gather all 8 B"      0.61 0.80
"gather all 64 KiB"   0.96 0.80
"8 ranks: barrier"    0.48 0.70
"8: named barrier"    0.39 0.70
"8: broadcast 8 B"    0.74 0.70
"8: reduce to all 8 B" 0.42 0.70
"8: exchange 8 B"     0.49 0.70
"32 ranks: barrier"   0.23 0.70
END
set terminal svg size 860,420 font "sans,12" background rgb "white"
set title "our time over Open MPI's, two ranks near each other, or 8 and 32 ranks on two CPUs; less is better"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set grid ytics
set yrange [0:1.3]
set xtics rotate by -40
set key top left
set rmargin 6
plot $rows using 2:xtic(1) title "reached" linecolor rgb "#4477aa", \
     "" using 3 title "wanted" linecolor rgb "#ddaa33"
