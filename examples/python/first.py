import ibsa

with ibsa.open() as client:
    for node in client.query(ibsa.NodeRecord):
        print(node.lid, node.node_description)
