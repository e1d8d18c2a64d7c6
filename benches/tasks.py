#!/usr/bin/env python3
"""Makes tasks for `suidao compare` from the recorded Chinese webs, and measures the page judge on each.

  benches/tasks.py --shared ARCHIVES --web WEB --web2 WEB2 --out OUT [--suidao target/release/suidao]

WEB and WEB2 are the unpacked webs. Writes OUT/TASK/{lexicon.toml, seeds.txt, truth.txt,
exclude.txt} and three compare files: web.toml and web2.toml, the tasks given with the webs, and dev.toml, seeded draws
of other seeds to tune on: up to three of eight hosts for each topic of web 1, six of two hosts for each of web 2.

A lexicon is never learnt from pages that are scored. On web 1 it is learnt from labelled pages of hosts that are not
seeds of the task, at most 60 per host, and those hosts are excluded: they count neither as fetched nor as relevant. On
web 2 it is learnt from web 1 without the hosts that both webs have. The background is pages of hosts that are not scored.

Prints a line for each task: relevant pages that its seeds reach, and how the lexicon's own page threshold does on a
sample of the reached pages, weighted by their frequency. Python 3 standard library only.

To unpack the webs from the folder ARCHIVES into DATA:
  for web in web web2; do mkdir -p DATA/$web/hosts; cp ARCHIVES/$web/aliases.tsv DATA/$web/; done
  zstd -dc --long=27 ARCHIVES/web/dev.tar.zst | tar -x -C DATA/web/hosts
  zstd -dc --long=27 ARCHIVES/web2/dev2.tar.zst | tar -x -C DATA/web2/hosts"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ProcessPoolExecutor
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

LEARNT_A_HOST, BACKGROUND_A_HOST = 60, 20
# A draw needs at least this many relevant pages that it reaches, pages to learn from, and hosts of those pages.
LEAST_REACHED, LEAST_LEARNT, LEAST_HOSTS = 30, 20, 3
DRAWS, DRAWN_HOSTS, PAIRS, ATTEMPTS = 3, 8, 6, 300
# Number of pages to judge for a task: relevant ones, others.
JUDGED = (300, 1500)
# Topics without labels on web 1: keywords as a user would write them.
KEYWORDS = {
    'algorithms': '算法 leetcode 力扣 动态规划 二叉树 排序 链表 数据结构 贪心 回溯 递归 图论 字符串 题解 刷题 二分查找 哈希表 栈 队列 '
                  '双指针 滑动窗口 深度优先搜索 广度优先搜索 dfs bfs dp 时间复杂度 空间复杂度 最短路径 并查集 线段树 前缀和 背包 洛谷 '
                  '快速排序 acm',
}
HREF = re.compile(rb'''<(?:a|area)\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))''', re.IGNORECASE)


def label_key(host, path):
    """The key by which labels are compared, as in the score.py of the webs."""
    path = unquote(path.split('#')[0].split('?')[0])
    return host.lower() + path.removesuffix('index.html').rstrip('/').removesuffix('.html')


def hrefs(job):
    """The distinct targets of a file's links, without fragments and queries, as (host, path)."""
    root, name = job
    host, _, path = name.partition('/')
    base = f'http://{host}/{path}'
    found = set()
    for groups in HREF.findall((root / name).read_bytes()):
        href = unescape((groups[0] or groups[1] or groups[2]).decode('utf-8', 'replace')).strip()
        href = href.split('#')[0].split('?')[0]
        try:
            if not href.startswith('/') or href.startswith('//'):
                parts = urlsplit(urljoin(base, href))
                if parts.scheme in ('http', 'https') and parts.hostname:
                    found.add((parts.hostname, unquote(parts.path) or '/'))
            else:
                found.add((host, unquote(href)))
        except ValueError:
            continue
    return found


class Web:
    """A recorded web: pages are numbered files, links their hrefs resolved as the webs' server does."""

    def __init__(self, root, shared):
        self.root = (root / 'hosts').resolve()
        if not self.root.is_dir():
            raise SystemExit(f'{root} holds no folder hosts: unpack the web there, see {shared / "README.md"}')
        self.shared = shared
        self.hosts = sorted(entry.name for entry in self.root.iterdir() if entry.is_dir())
        self.aliases = dict(line.split() for line in open(shared / 'aliases.tsv') if line.strip())
        self.names = sorted(os.path.relpath(os.path.join(folder, file), self.root)
                            for host in self.hosts for folder, _, files in os.walk(self.root / host)
                            for file in files if file.lower().endswith(('.html', '.htm')))
        self.pages = {name: page for page, name in enumerate(self.names)}
        self.host_of = [name.partition('/')[0] for name in self.names]
        self.keys = {label_key(*divide(name)): page for page, name in enumerate(self.names)}
        with ProcessPoolExecutor(2) as pool:
            found = pool.map(hrefs, ((self.root, name) for name in self.names), chunksize=500)
            self.links = [sorted({page for target in targets if (page := self.page(*target)) is not None})
                          for targets in found]
        self.labels = {file.name.split('.')[1]: [line.split('\t')[0].strip() for line in open(file) if line.strip()]
                       for file in sorted((shared / 'truth').iterdir())}
        self.relevant = {topic: {self.keys[key] for url in urls if (key := self.url_key(url)) in self.keys}
                         for topic, urls in self.labels.items()}

    def url_key(self, url):
        parts = urlsplit(url)
        return label_key(parts.hostname, parts.path)

    def page(self, host, path):
        """The page to which a decoded path on a host leads."""
        name = self.aliases.get(host, host) + path
        names = [name + 'index.html', name + 'index.htm'] if path.endswith('/') else \
            [name, name + '/index.html', name + '/index.htm', name + '.html']
        return next((self.pages[name] for name in names if name in self.pages), None)

    def reached(self, seeds):
        """Pages that breadth-first reaches from these URLs, in its order."""
        first = [self.page(urlsplit(seed).hostname, unquote(urlsplit(seed).path) or '/') for seed in seeds]
        order = list(dict.fromkeys(page for page in first if page is not None))
        seen = set(order)
        for page in order:
            for target in self.links[page]:
                if target not in seen:
                    seen.add(target)
                    order.append(target)
        return order

    def some(self, pages, a_host, seed):
        """A draw of these pages, with a maximum per host."""
        pages, count = sorted(pages), {}
        random.Random(seed).shuffle(pages)
        drawn = []
        for page in pages:
            host = self.host_of[page]
            count[host] = count.get(host, 0) + 1
            if count[host] <= a_host:
                drawn.append(page)
        return drawn

    def lay_out(self, pages, folder):
        """Links to the pages' files under their own names, so that their URLs are known."""
        for page in pages:
            link = folder / self.names[page]
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(self.root / self.names[page])


def divide(name):
    host, _, path = name.partition('/')
    return host, '/' + path


class Lexicons:
    """Builds lexicons, equal ones only once."""

    def __init__(self, suidao, scratch):
        self.suidao, self.scratch, self.built = suidao, scratch, {}

    def learnt(self, web, topic, hosts, background_hosts):
        """A lexicon from labelled pages of some hosts against pages of others, and the pages it was learnt from."""
        if topic not in web.relevant:
            return self.build(web, topic, [], background_hosts)
        pages = [page for page in web.relevant[topic] if web.host_of[page] in hosts]
        return self.build(web, topic, web.some(pages, LEARNT_A_HOST, 1), background_hosts)

    def build(self, web, topic, samples, background_hosts):
        key = (topic, tuple(samples), tuple(sorted(background_hosts)))
        if key not in self.built:
            folder = self.scratch / str(len(self.built))
            background = [page for page, host in enumerate(web.host_of) if host in background_hosts]
            web.lay_out(web.some(background, BACKGROUND_A_HOST, 2), folder / 'background')
            if samples:
                web.lay_out(samples, folder / 'samples')
                source = ['--pages', folder / 'samples']
            else:
                (folder / 'keywords.txt').write_text('\n'.join(KEYWORDS[topic].split()) + '\n')
                source = ['--keywords', folder / 'keywords.txt']
            lexicon = folder / 'lexicon.toml'
            subprocess.run([self.suidao, '-q', 'topic', 'build', '-o', lexicon, '--name', topic, *source,
                            '--background', folder / 'background'], check=True)
            self.built[key] = lexicon
        return self.built[key], samples


def judged(suidao, scratch, web, topic, lexicon, pages):
    """Precision and recall at the lexicon's page threshold, and average precision, as expected over all these pages."""
    pools = [[page for page in pages if (page in web.relevant[topic]) == on] for on in (True, False)]
    drawn = [web.some(pool, len(pool), 3)[:most] for pool, most in zip(pools, JUDGED)]
    weights = [len(pool) / max(1, len(some)) for pool, some in zip(pools, drawn)]
    folder = Path(tempfile.mkdtemp(dir=scratch))
    web.lay_out(drawn[0] + drawn[1], folder)
    output = subprocess.run([suidao, 'topic', 'test', '-m', lexicon, '--pages', folder], check=True, capture_output=True,
                            text=True).stdout
    shutil.rmtree(folder)
    on_topic = {web.names[page] for page in drawn[0]}
    scored = []
    for line in output.splitlines()[1:]:
        score, verdict, name = line.split('\t')[:3]
        scored.append((float(score), name in on_topic, verdict == 'on'))
    scored.sort(key=lambda row: (-row[0], row[1]))          # among equals the irrelevant first: no flattery
    hits = misses = at_hits = at_misses = average = 0.0
    for _, on, chosen in scored:
        if on:
            hits += weights[0]
            average += weights[0] / len(pools[0]) * hits / (hits + misses)
        else:
            misses += weights[1]
        if chosen:
            at_hits, at_misses = hits, misses
    return at_hits / max(1.0, at_hits + at_misses), at_hits / max(1, len(pools[0])), average


def home(host):
    return f'http://{host}/'


def drawn_hosts(web, topic, scored_pages):
    """Seeded draws of seed hosts for a topic of web 1, each with the hosts left to learn from."""
    holders = sorted({web.host_of[page] for page in web.relevant[topic]})
    rng, draws = random.Random(f'draws {topic}'), []
    for _ in range(ATTEMPTS if len(holders) >= DRAWN_HOSTS + LEAST_HOSTS else 0):
        seeds = sorted(rng.sample(holders, DRAWN_HOSTS))
        rest = set(holders) - set(seeds)
        learnt = web.some([page for page in web.relevant[topic] if web.host_of[page] in rest], LEARNT_A_HOST, 1)
        reached = scored_pages(web, [home(host) for host in seeds], rest)
        if seeds not in draws and len(learnt) >= LEAST_LEARNT and \
                len(web.relevant[topic].intersection(reached)) >= LEAST_REACHED:
            draws.append(seeds)
        if len(draws) == DRAWS:
            break
    return draws


def drawn_pairs(web, topic):
    rng, draws = random.Random(f'pairs {topic}'), []
    for _ in range(ATTEMPTS):
        seeds = sorted(rng.sample(web.hosts, 2))
        reached = web.reached([home(host) for host in seeds])
        if seeds not in draws and len(web.relevant[topic].intersection(reached)) >= LEAST_REACHED:
            draws.append(seeds)
        if len(draws) == PAIRS:
            break
    return draws


def scored_pages(web, seeds, excluded):
    return [page for page in web.reached(seeds) if web.host_of[page] not in excluded]


def compare_file(path, tasks, pages, cutoffs):
    text = f'pages = {pages}\ncutoffs = {cutoffs}\n'
    for name, web in tasks:
        text += f'\n[[task]]\nname = {json.dumps(name)}\nweb = {json.dumps("hosts:" + str(web.root))}\n'
        text += ''.join(f'{key} = {json.dumps(f"{name}/{file}")}\n' for key, file in
                        [('lexicon', 'lexicon.toml'), ('seeds', 'seeds.txt'), ('truth', 'truth.txt'),
                         ('exclude', 'exclude.txt')])
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('shared', 'web', 'web2', 'out'):
        parser.add_argument(f'--{name}', type=Path, required=True)
    parser.add_argument('--suidao', type=Path, default=Path('target/release/suidao'))
    a = parser.parse_args()
    web, web2 = Web(a.web, a.shared / 'web'), Web(a.web2, a.shared / 'web2')
    in_both = {host for host in web.hosts
               if {web2.aliases.get(name, name) for name in
                   {host} | {alias for alias, target in web.aliases.items() if target == host}} & set(web2.hosts)}
    given = [json.load(open(each.shared / 'tasks.json')) for each in (web, web2)]
    lists = {'web': [], 'web2': [], 'dev': []}
    for name, task in given[0].items():
        lists['web'].append((name, web, name, task['seeds']))
    for name, task in given[1].items():
        lists['web2'].append((f'{name}2', web2, name, task['seeds']))
    for topic in web.labels:
        for number, hosts in enumerate(drawn_hosts(web, topic, scored_pages), 1):
            lists['dev'].append((f'{topic}-draw{number}', web, topic, [home(host) for host in hosts]))
    for topic in web2.labels:
        for number, hosts in enumerate(drawn_pairs(web2, topic), 1):
            lists['dev'].append((f'{topic}2-pair{number}', web2, topic, [home(host) for host in hosts]))

    print('| task | pages reached | relevant | on hosts | learnt from | hosts | terms | threshold | precision | recall '
          '| average precision |\n|---' + '|---:' * 10 + '|', flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        lexicons = Lexicons(a.suidao, Path(scratch))
        for where, tasks in lists.items():
            for name, of, topic, seeds in tasks:
                write_task(a, lexicons, web, in_both, name, of, topic, seeds)
            pages, cutoffs = (2000, [500, 1000, 2000]) if where == 'dev' else (5000, [500, 1000, 2000, 5000])
            compare_file(a.out / f'{where}.toml', [(name, of) for name, of, _, _ in tasks], pages, cutoffs)


def write_task(a, lexicons, web, in_both, name, of, topic, seeds):
    """Writes the files of a task and prints its line. Its lexicon is learnt on `web`, which may differ from `of`."""
    seed_hosts = {urlsplit(seed).hostname for seed in seeds}
    if of is web:
        excluded = {web.host_of[page] for page in web.relevant[topic]} - seed_hosts
        scored = scored_pages(of, seeds, excluded)
        learnt_on, unscored = excluded, set(web.hosts) - {of.host_of[page] for page in scored}
    else:
        excluded, scored = set(), of.reached(seeds)
        learnt_on = unscored = set(web.hosts) - in_both
    lexicon, learnt = lexicons.learnt(web, topic, learnt_on, unscored)
    folder = a.out / name
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(lexicon, folder / 'lexicon.toml')
    for file, lines in [('seeds', seeds), ('truth', of.labels[topic]), ('exclude', sorted(excluded))]:
        (folder / f'{file}.txt').write_text(''.join(f'{line}\n' for line in lines))
    relevant = of.relevant[topic].intersection(scored)
    precision, recall, average = judged(a.suidao, lexicons.scratch, of, topic, lexicon, scored)
    text = lexicon.read_text()
    terms = sum(' = ' in line for line in re.search(r'^\[terms\]$(.*?)(^\[|\Z)', text, re.M | re.S)[1].splitlines())
    threshold = float(re.search(r'^\[threshold\.page\]$.*?^value = ([\d.e-]+)', text, re.M | re.S)[1])
    print(f'| {name} | {len(scored)} | {len(relevant)} | {len({of.host_of[page] for page in relevant})} '
          f'| {len(learnt) or "key words"} | {len({web.host_of[page] for page in learnt})} | {terms} | {threshold:.3f} '
          f'| {precision:.2f} | {recall:.2f} | {average:.2f} |', flush=True)


main()
