# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Writes a topology file for ibsim in which everything is explicit: cables at both their ends, each with its rate where ibnetdiscover writes it;
# LIDs and GUIDs; and what each node's vendor calls it. With -v lmc=N ports of
# adapters have 2 to the power of N LIDs.

function note(node, port, far, far_port, rate) {
	if ((node, port) in link)
		return
	link[node, port] = "\"" far "\"[" far_port "]\t\t# "
	rates[node, port] = rate
	names[node, port] = far
	if (port > most[node])
		most[node] = port
}

# Return the lowest count of LIDs above all others that begin with a multiple of
# the count.
function next_lids(count,	first) {
	first = int((top_lid + count) / count) * count
	top_lid = first + count - 1
	return first
}

/^(Switch|Ca|Hca|Rt)[ \t]/ {
	split($0, quoted, "\"")
	node = quoted[2]
	order[++nodes] = node
	is_switch[node] = /^Switch/
	head[node] = before
	kind[node] = $1 "\t" $2
	name[node] = quoted[4] == "" ? node : quoted[4]
	before = ""
	next
}

/^\[/ {
	match($0, /^\[[0-9]+\]/)
	port = substr($0, 2, RLENGTH - 2) + 0
	split($0, quoted, "\"")
	split(quoted[3], numbers, /[][]/)
	rate = $NF
	if (rate !~ /^[0-9]+x[A-Z0-9]+$/) {
		print "no rate: " $0 >"/dev/stderr"
		exit 1
	}
	note(node, port, quoted[2], numbers[2] + 0, rate)
	note(quoted[2], numbers[2] + 0, node, port, rate)
	next
}

/^[a-z]+=/ { before = before $0 "\n" }

END {
	for (i = 1; i <= nodes; i++) {
		node = order[i]
		if (head[node] !~ /vendid=/)
			print "vendid=0x0\ndevid=0x0"
		if (head[node] !~ /guid=/)
			print (is_switch[node] ? "switch" : "ca") "guid=0x2c903" \
				sprintf("%08x", i * 4001 % 65536 * 256)
		printf "%s%s \"%s\"\t# \"%s\"", head[node], kind[node], node,
			name[node]
		print is_switch[node] ? " base port 0 lid " next_lids(1) " lmc 0" : ""
		for (port = 1; port <= most[node]; port++) {
			if (!((node, port) in link))
				continue
			print "[" port "]\t" link[node, port] \
				(is_switch[node] ? "" : \
				"lid " next_lids(2 ^ lmc) " lmc " lmc + 0 " ") \
				"\"" names[node, port] "\" lid 0 " \
				rates[node, port]
		}
		print ""
	}
}
