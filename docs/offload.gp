# Collectives by the simulated unit and by software: gnuplot docs/offload.gp >docs/offload.svg
# The figures are those of docs/offload.md, "What it costs".
$unit << END
0    25.8 27.7
0.5  26.0 27.9
2    29.1 31.2
5    36.7 39.0
10   48.9 52.4
END
set terminal svg size 560,340 font "sans,12" background rgb "white"
set title "two ranks on two hosts, us a call"
set xlabel "a packet's way, us (PST\\_OFFLOAD\\_CAU\\_HOP\\_NS)"
set xrange [0:10]
set yrange [0:60]
set grid
set key left top
plot $unit using 1:2 with linespoints title "barrier, unit" linecolor rgb "#4477aa", \
     "" using 1:3 with linespoints title "reduce to all of 8 bytes, unit" linecolor rgb "#ddaa33", \
     13.6 title "barrier, software" linecolor rgb "#4477aa" dashtype 2, \
     14.5 title "reduce to all, software" linecolor rgb "#ddaa33" dashtype 2
