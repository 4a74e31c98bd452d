# Ranks as processes and as threads: gnuplot docs/threads.gp >docs/threads.svg
# The figures are those of docs/performance.md, "Ranks that are threads".
$messages << END
"Short, one way"      108 116 111
"Medium 8 B, one way" 109 120 114
"Short, in a stream"   29.5 30.1 31.7
"barrier"             132 109 112
END
$loop << END
"none" 25.5 25.5 21.6
"one"  20.0 18.5 20.1
"two"  19.8 19.8 19.7
"all"  19.8 19.9 19.8
END
set terminal svg size 820,360 font "sans,12"
set multiplot layout 1,2
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set grid ytics
set key top left
set title "two ranks, ns"
set yrange [0:180]
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
