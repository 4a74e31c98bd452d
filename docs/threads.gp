# Ranks as processes and as threads: gnuplot docs/threads.gp >docs/threads.svg
# The figures are those of docs/performance.md, "Ranks that are threads".
$messages << END
"Short, one way"       98  122  110
"Medium 8 B, one way" 102  124  110
"Short, in a stream"   18   25   20
"barrier"             123 1350 1415
END
$loop << END
"none" 8.2
"one"  7.6
"two"  7.6
"all"  8.2
END
set terminal svg size 820,360 font "sans,12"
set multiplot layout 1,2
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set grid ytics
set key top left
set title "two ranks, ns"
set logscale y
set yrange [10:*]
set xtics rotate by -20
plot $messages using 2:xtic(1) title "processes" linecolor rgb "#4477aa", \
     "" using 3 title "threads" linecolor rgb "#ddaa33", \
     "" using 4 title "threads, serial" linecolor rgb "#66aa55"
unset logscale
set yrange [0:*]
set title "inner loop, ns a block, by variables of the thread"
plot $loop using 2:xtic(1) notitle linecolor rgb "#4477aa"
