#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: topology_slurm.sh IBSA LIBDIR FABRIC
#
# Tests "ibsa topology --format slurm": the files that it writes, and the fabrics that
# it refuses. test/counterpart/slurm.sh tests that Slurm accepts these files.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

# writes FILE ARG... - check that ibsa topology --format slurm FILE ARG... prints the
# lines of standard input, apart from comments
writes() {
	local file=$1
	shift
	run 0 topology --format slurm "$file" "$@"
	err_empty
	grep -v '^#' out >lines
	diff - lines >diff.out || fail "writes: $(cat lines)"
}

# refuses TEXT FILE ARG... - check that ibsa topology prints a message with
# TEXT and writes no file
refuses() {
	local text=$1 file=$2
	shift 2
	run 1 topology --format slurm "$file" "$@"
	out_empty
	sentences 1
	err_has "$text"
}

# net LINE... - write a topology file x.net of one switch with these adapters
net() {
	local name i=0
	printf 'Switch 36 "S-1" # "sw"\n' >x.net
	for name; do
		i=$((i + 1))
		printf '[%d] "H-%d"[1] # 4xEDR\n' $i $i >>x.net
	done
	i=0
	for name; do
		i=$((i + 1))
		printf 'caguid=0x10%02d\nCa 1 "H-%d" # "%s"\n' $i $i "$name" >>x.net
	done
}

hosts_are_first_words() {
	net 'n10 HCA-1' 'n9 mlx5_0' 'n9 mlx5_1' 'n-1.site'
	writes x.net <<-'END'
		SwitchName=sw Nodes=n-1.site,n9,n10
	END
	writes x.net --device 'mlx5_[1]' <<-'END'
		SwitchName=sw Nodes=n9
	END
	run 0 --fabric x.net topology --format slurm
	out_has '^SwitchName=sw Nodes=n-1.site,n9,n10$'
	out_has '^# For TopologyPlugin=topology/tree$'
}

# A host name that Slurm would read as another one is an error.
wrong_hosts_are_refused() {
	local name
	for name in 'n[1-3]' 'a,b' 'x=y' $'\033[31m' 'h"i' '#1' '-n' 'ñ' ' n1'; do
		net 'n1' "$name"
		refuses '0x0*1002 has the description' x.net
		! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" err ||
			fail 'control characters'
		echo '0x1002 "n2 mlx5_0"' >map
		writes x.net --node-name-map map <<-'END'
			SwitchName=sw Nodes=n1,n2
		END
	done
}

# An aggregation node is not a host.
other_nodes_are_left_out() {
	net n1 'Mellanox Technologies Aggregation Node' n2
	writes x.net <<-'END'
		SwitchName=sw Nodes=n1,n2
	END
	printf 'Ca 1 "lost"\nCa 1 "h-2"\n' >>x.net
	run 0 topology --format slurm x.net
	out_has '^# Without a switch: h-2,lost$'
}

rails_need_a_choice() {
	cat >rails.net <<-'END'
		Switch 4 "one"
		[1] "n1 mlx5_0"[1]
		[4] "two"[4]
		Switch 4 "two"
		[1] "n1 mlx5_1"[1]
		Ca 1 "n1 mlx5_0"
		Ca 1 "n1 mlx5_1"
	END
	refuses "host 'n1' is connected to the switches 'one' and 'two'" \
		rails.net
	writes rails.net --device 'mlx5_[1]' <<-'END'
		SwitchName=two Nodes=n1
	END
	run 1 topology --format slurm rails.net --device 'mlx4*'
	out_empty
}

# The names of the first two switches are equal once they are valid for Slurm,
# and the third is reserved for the root: the second and the third get their
# GUIDs appended.
switches_have_different_names() {
	cat >names.net <<-'END'
		switchguid=0x21
		Switch 4 "S-1" # "a b"
		[1] "H-1"[1]
		[4] "S-2"[4]
		switchguid=0x22
		Switch 4 "S-2" # "a_b"
		[1] "H-2"[1]
		[3] "S-3"[3]
		switchguid=0x23
		Switch 4 "S-3" # "root-3"
		[1] "H-3"[1]
		Ca 1 "H-1" # "n1"
		Ca 1 "H-2" # "n2"
		Ca 1 "H-3" # "n3"
	END
	writes names.net <<-'END'
		SwitchName=a_b Nodes=n1
		SwitchName=a_b-0000000000000022 Nodes=n2
		SwitchName=root-3-0000000000000023 Nodes=n3
		SwitchName=root-3 Switches=a_b,a_b-0000000000000022,root-3-0000000000000023
	END
}

# Names are quoted: YAML would read the unquoted name yes as a truth value.
yaml_has_the_same_tree() {
	cat >yaml.net <<-'END'
		Switch 4 "one"
		[1] "n1"[1]
		[4] "yes"[4]
		Switch 4 "yes"
		[1] "7"[1]
		Ca 1 "n1"
		Ca 1 "7"
	END
	run 0 topology --format slurm-yaml yaml.net
	python3 - out <<-'CHECK' || fail 'not the tree in YAML'
		import sys
		text = open(sys.argv[1], encoding="utf-8").read()
		assert text == """\
		- topology: default
		  cluster_default: true
		  tree:
		    switches:
		      - switch: "one"
		        nodes: "n1"
		      - switch: "yes"
		        nodes: "7"
		# root-2 stands for links between switches
		      - switch: "root-2"
		        children: "one,yes"
		"""
	CHECK
}

empty_fabrics() {
	printf 'Switch 2 "s"\n' >x.net
	writes x.net </dev/null
}

wrong_command_lines() {
	local words
	while read -ra words; do
		run 2 "${words[@]}"
		out_empty
		sentences 1
	done <<-'END'
		topology --format slurm --format net x.net
		topology --format slurm --format slurm-yaml x.net
		topology --format slurm -j x.net
		topology --format slurm --format csv x.net
		topology x.net x.net
	END
	run 4 topology --format slurm none.net
	echo 'Switch x' >bad.net
	run 2 topology --format slurm bad.net
	err_has bad.net
}

run_groups hosts_are_first_words wrong_hosts_are_refused \
	other_nodes_are_left_out rails_need_a_choice \
	switches_have_different_names yaml_has_the_same_tree empty_fabrics wrong_command_lines
