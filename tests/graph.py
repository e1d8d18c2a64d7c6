"""Computes the figures of a link graph with networkx, and compares them.

    python3 graph.py PAGES.jsonl GRAPH.graphml GRAPH.json

Prints what agrees. Exits with 77 if a package is missing, and with a traceback if something differs.
"""

import collections
import json
import sys

try:
    import networkx
    import scipy  # noqa: F401, which networkx needs for PageRank and HITS
except ModuleNotFoundError as error:
    print(f"graph: {error} (tests/tools.sh installs it)")
    sys.exit(77)

PAGES, GRAPHML, FACTS = sys.argv[1:]
with open(PAGES, encoding="utf-8") as lines:
    lines = [json.loads(line) for line in lines]
with open(FACTS, encoding="utf-8") as file:
    facts = json.load(file)
graph = networkx.read_graphml(GRAPHML)
nodes = [f"n{number}" for number in range(len(lines))]
value = lambda name: {node: graph.nodes[node].get(name) for node in nodes}
host, island, component, gate = value("host"), value("island"), value("component"), value("gate")

# PageRank: the links of a page within its host are one vote together.
for source in nodes:
    inner = [target for target in graph[source] if host[target] == host[source]]
    for target in graph[source]:
        graph[source][target]["vote"] = 1 / len(inner) if host[target] == host[source] else 1.0
ranks = networkx.pagerank(graph, alpha=0.85, weight="vote", tol=1e-10, max_iter=1000)
for node, pagerank in value("pagerank").items():
    assert abs(pagerank / len(nodes) - ranks[node]) < 1e-6, (node, pagerank, ranks[node])

# Islands: pages on topic joined by links that the pages of a host do not share.
pages_of = collections.Counter(host.values())
linking = collections.Counter((host[source], target) for source, target in graph.edges)
shared = lambda source, target: linking[host[source], target] >= max(5, pages_of[host[source]] // 2 + 1)
joined = networkx.DiGraph()
joined.add_nodes_from(node for node in nodes if island[node] is not None)
joined.add_edges_from(
    (source, target) for source, target in graph.edges if source in joined and target in joined and not shared(source, target)
)


def partition(numbers):
    groups = collections.defaultdict(set)
    for node in joined:
        groups[numbers[node]].add(node)
    return sorted(map(sorted, groups.values()))


assert partition(island) == sorted(map(sorted, networkx.weakly_connected_components(joined)))
assert partition(component) == sorted(map(sorted, networkx.strongly_connected_components(joined)))
islands = partition(island)
assert facts["islands"] == len(islands)
assert [row["pages"] for row in facts["largest"]] == [
    sum(island[node] == number for node in nodes) for number in range(min(20, len(islands)))
]

# Gates: dominators of a node behind each island, from a node before all seeds.
seeds = {node for node, line in zip(nodes, lines) if line["depth"] == 0 and line["found_on"] is None}
flow = networkx.DiGraph(graph.edges)
flow.add_nodes_from(nodes)
flow.add_edges_from(("source", seed) for seed in seeds)
flow.add_edges_from((node, ("island", island[node])) for node in joined)
dominators = networkx.immediate_dominators(flow, "source")
expected = collections.Counter()
for number in set(island[node] for node in joined):
    at = dominators.get(("island", number))
    while at is not None and at != "source":
        if at not in seeds and island[at] != number:
            expected[at] += 1
        at = dominators[at] if dominators[at] != at else None
assert {node: gate[node] for node in nodes if gate[node]} == dict(expected), (gate, expected)

# Shortest paths between islands.
url = {line["url"]: node for node, line in zip(nodes, lines)}
for row in facts["largest"]:
    number = row["number"] - 1
    others = {node for node in joined if island[node] != number}
    members = {node for node in joined if island[node] == number}
    lengths = networkx.multi_source_dijkstra_path_length(graph, others, weight=lambda *_: 1) if others else {}
    shortest = min((lengths[node] for node in members if node in lengths), default=None)
    steps = row["path"] and [url[step["url"]] for step in row["path"]["steps"]]
    assert (steps and len(steps) - 1) == shortest, (row, shortest)
    assert not steps or all(graph.has_edge(*step) for step in zip(steps, steps[1:]))

print(f"networkx agrees on {len(nodes)} pages, {len(islands)} islands and {sum(1 for node in nodes if gate[node])} gates")
