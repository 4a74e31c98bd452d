# Ranks as processes and as threads: gnuplot docs/threads.gp >docs/threads.svg
# The figures are those of docs/performance.md, "Ranks that are threads".
$messages << END
"Short, one way"       70  89  93
"Medium 8 B, one way"  71  92  96
"Short, in a stream"   25.6 25.4 18.1
"barrier"             108  93 100
END
$loop << END
"none" 22.6 24.0 18.1
"one"  19.9 20.0 19.9
"two"  19.0 18.7 18.7
"all"  18.6 19.8 19.5
END
set terminal svg size 820,360 font "sans,12" background rgb "white"
set multiplot layout 1,2
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set grid ytics
set key top left
set title "two ranks, ns"
set yrange [0:140]
set xtics rotate by -20
plot $messages using 2:xtic(1) title "processes" linecolor rgb "#4477aa", \
     "" using 3 title "threads" linecolor rgb "#ddaa33", \
     "" using 4 title "threads, serial" linecolor rgb "#66aa55"
set yrange [0:40]
set title "inner loop, ns a block"
set xlabel "variables of the thread"
plot $loop using 2:xtic(1) title "processes" linecolor rgb "#4477aa", \
     "" using 3 title "threads" linecolor rgb "#ddaa33", \
     "" using 4 title "threads, serial" linecolor rgb "#66aa55"
