# Read by tests of the command lines that process managers get: scripts stand for the managers, and print their
# name and their words, one a line.

# manager NAME: one that is in PATH after `only NAME'
manager()
{
	mkdir -p "$tmp/$1"
	cat >"$tmp/$1/$1" <<-'END'
		#!/bin/sh
		case $*,${0##*/} in
		--version,mpi*) echo "$VERSION"; exit ;;
		--mpi=list,srun) printf 'MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\n'; exit ;;
		esac
		echo "${0##*/}"
		[ $# -eq 0 ] || printf '%s\n' "$@"
	END
	chmod 755 "$tmp/$1/$1"
}
for name in srun mpiexec.hydra mpirun mpirun.openmpi mpiexec; do manager $name; done
mkdir "$tmp/bin"
for tool in sh env cat printf timeout sleep; do ln -s "$(command -v $tool)" "$tmp/bin/$tool"; done
openmpi='mpirun (Open MPI) 4.1.4' hydra='HYDRA build details:'
VERSION=$openmpi
export VERSION
unset SLURM_JOB_ID SLURM_MPI_TYPE SLURM_EXPORT_ENV SLURM_JOB_NODELIST SLURM_NODELIST MPIRUN_CMD PMIRUN_CMD
unset PBS_NODEFILE LSB_DJOB_HOSTFILE LSB_HOSTS PE_HOSTFILE

# only NAME...: the managers that are in PATH
only()
{
	path=$tmp/bin
	for directory; do path=$path:$tmp/$directory; done
}

# says WORDS...: the command line that the manager got, behind its name
says()
{
	expect_status 0
	expect_silence
	[ "$(cat "$tmp/out")" = "$(printf '%s\n' "$@")" ] || { wrong "not the words: $*"; tr '\n' ' ' <"$tmp/out"; }
}

# refused TEXT
refused()
{
	expect_status 2
	expect_one_line
	expect_message "$1"
	expect_output ""
}

# An option of each call of srun.
slurm='--mpi=pmi2 --kill-on-bad-exit=1 --quit-on-interrupt'
