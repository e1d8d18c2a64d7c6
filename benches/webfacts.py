#!/usr/bin/env python3
"""Facts about recorded blogs that a generated web is made after, and the same facts about the generated web.

  benches/webfacts.py --web WEB/hosts --truth ../shared/web/truth [--lexicons lexicons]
  benches/webfacts.py --practice web --lexicon sports.toml --proxy http://127.0.0.1:8080

The second while `suidao practice web` runs, with a lexicon learnt as docs/tutorial.md says.

WEB/hosts is a folder of hosts, a file a page (../shared/web/README.md says how to unpack it); --truth holds lists of relevant
URLs, one file a topic (NAME.TOPIC.txt). --practice is the directory of `suidao practice`: its web is fetched through the
proxy.

What a URL is (post, tag page, archive, ...) is told by its path, with the word lists of src/strategy/tunnel/kind.rs. A link
of a page is a distinct target; one that half of the host's pages have is repeated (navigation, sidebar, tag cloud). A host
is a blog if it has 20 posts and 3 tags. Figures are means over hosts, unless they say median or pooled. A term of a topic is
one of the strongest 60 of its lexicon; topics without a lexicon are left out there.

Prints a table, a fact a line. Python 3 standard library only."""
import argparse
import collections
import os
import random
import re
import statistics
import sys
import urllib.request
from concurrent.futures import ProcessPoolExecutor
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

LINK = re.compile(r'''<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))[^>]*>(.*?)</a>''', re.I | re.S)
MARKUP = re.compile(r'<(script|style|noscript)\b.*?</\1>|<!--.*?-->', re.I | re.S)
ELEMENT = re.compile(r'<[^>]+>')
DATE = re.compile(r'\b(?:19|20)\d\d\s*[-/.年]\s*[01]?\d\s*[-/.月]\s*[0-3]?\d'
                  r'|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2},? 20\d\d')
DATED = re.compile(r'<time\b|article:published_time|datePublished', re.I)
TAG = {'tag', 'tags', 'category', 'categories', 'cat', 'topics', 'series', '标签', '分类'}
FRIENDS = {'link', 'links', 'friend', 'friends', 'friendlink', 'friendlinks', 'friend-link', 'friend-links', 'blogroll', 'flink',
           'youlian', '友链', '友情链接', '友人帐'}
MISC = {'about', 'me', 'guestbook', 'message', 'board', 'search', 'contact', 'donate', 'sitemap', 'photos', 'gallery', 'music',
        'movies', 'books', 'comments', '404', 'projects', 'resume', 'cv', '关于', '留言板', '留言'}
KINDS = ['post', 'tag', 'tag index', 'archive', 'paging', 'home', 'friends', 'misc']
# Terms of a lexicon that count; posts and tags that make a host a blog; draws of seeds for a topic, and hosts of one.
TERMS, POSTS, TAGS, DRAWS, DRAWN = 60, 20, 3, 5, 8


def label_key(host, path):
    """What pages are compared by, as ../shared/web/score.py does."""
    path = unquote(path.split('#')[0].split('?')[0])
    return host.lower() + path.removesuffix('index.html').rstrip('/').removesuffix('.html')


def kind_of(path):
    """What a path leads to, and what its later pages have in common."""
    segments = [segment for segment in path.lower().split('/') if segment]
    segments = [re.sub(r'\.(html?|php)$', '', segment) for segment in segments]
    if segments and segments[-1] == 'index':
        segments.pop()
    paged = False
    if len(segments) >= 2 and segments[-2] == 'page' and segments[-1].isdigit():
        segments, paged = segments[:-2], True
    family = '/'.join(segments)
    if not segments:
        return ('paging' if paged else 'home'), family
    last = segments[-1]
    if last in FRIENDS:
        return 'friends', family
    at = next((at for at, segment in enumerate(segments) if segment in TAG), None)
    if at is not None:
        return ('tag index' if at + 1 == len(segments) else 'tag'), family
    dated = [segment for segment in segments if not (segment.isdigit() and len(segment) in (1, 2, 4))]
    if last in ('archive', 'archives') or dated in ([], ['archives'], ['archive']):
        return 'archive', family
    if len(segments) <= 2 and last in MISC:
        return 'misc', family
    return ('paging' if paged else 'post'), family


def read(html, base, patterns):
    """Distinct links of a page, as (host, path, the topics that an anchor of it names); whether a date is seen, or marked."""
    links = {}
    for *groups, inner in LINK.findall(MARKUP.sub(' ', html)):
        href = unescape(next(filter(None, groups), '')).strip().split('#')[0].split('?')[0]
        if not href or href.lower().startswith(('javascript:', 'mailto:', 'data:')):
            continue
        try:
            parts = urlsplit(urljoin(base, href))
        except ValueError:
            continue
        if parts.scheme not in ('http', 'https') or not parts.hostname:
            continue
        text = unescape(ELEMENT.sub(' ', inner)).lower()
        named = sum(bit for bit, pattern in patterns if pattern.search(text))
        target = (parts.hostname, unquote(parts.path) or '/')
        links[target] = links.get(target, 0) | named
    seen = bool(DATE.search(ELEMENT.sub(' ', MARKUP.sub(' ', html))))
    return links, seen, bool(DATED.search(html))


def recorded(job):
    """All pages of one host's folder."""
    root, host, patterns = job
    pages = {}
    for folder, _, files in os.walk(os.path.join(root, host)):
        for name in files:
            if not name.lower().endswith(('.html', '.htm')):
                continue
            file = os.path.join(folder, name)
            path = '/' + os.path.relpath(file, os.path.join(root, host))
            with open(file, 'rb') as handle:
                html = handle.read(2_000_000).decode('utf-8', 'replace')
            if re.search(r'http-equiv=["\']?refresh', html[:2000], re.I):
                continue
            pages.setdefault(label_key(host, path), (path, *read(html, f'http://{host}{path}', patterns)))
    return host, pages


def fetched(proxy, seeds, patterns):
    """All pages of the practice web, by host: whatever links lead to."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({'http': proxy}))
    web, queue, seen, moved = {}, list(seeds), set(seeds), {}
    for url in queue:
        try:
            with opener.open(url, timeout=30) as answer:
                body, there = answer.read(), answer.geturl()
                media = answer.headers.get('content-type', '')
        except OSError:
            continue
        charset = 'gbk' if 'gbk' in media or b'charset="gbk"' in body[:500] else 'utf-8'
        parts = urlsplit(there)
        links, *dates = read(body.decode(charset, 'replace'), there, patterns)
        links = {to: named for to, named in links.items() if not to[1].startswith(('/private/', '/calendar/'))}
        path = unquote(parts.path)
        key = label_key(parts.hostname, path)
        first = urlsplit(url)
        moved[label_key(first.hostname, unquote(first.path))] = key
        web.setdefault(parts.hostname, {}).setdefault(key, (path, links, *dates))
        for host, to in links:
            if f'http://{host}{to}' not in seen:
                seen.add(f'http://{host}{to}')
                queue.append(f'http://{host}{to}')
    return web, moved


def pattern(terms):
    words = [r'\b' + re.escape(term) + r'\b' if term.isascii() else re.escape(term) for term in terms if len(term) > 1]
    return re.compile('|'.join(words).lower())


def lexicon(file):
    """The strongest terms of a lexicon."""
    text = file.read_text(encoding='utf-8').partition('\n[terms]\n')[2].partition('\n[')[0]
    weights = re.findall(r'^"?([^"\n=]+?)"?\s*=\s*([\d.]+)', text, re.M)
    return [term for term, _ in sorted(weights, key=lambda pair: -float(pair[1]))[:TERMS]]


class Facts:
    def __init__(self):
        self.rows = []

    def tell(self, name, values, how='mean'):
        values = [value for value in values if value is not None]
        if not values:
            return
        quarters = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
        middle = statistics.fmean(values) if how == 'mean' else statistics.median(values)
        digits = 3 if max(map(abs, values)) <= 1 else 1
        spread = f'{quarters[0]:.{digits}f} to {quarters[2]:.{digits}f}'
        print(f'{name:<74}{middle:>9.{digits}f}   {how}, half in {spread}, of {len(values)}', flush=True)

    def say(self, name, value, of):
        print(f'{name:<74}{value:>9.3f}   pooled, of {of}', flush=True)


def share(part, whole):
    return part / whole if whole else None


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--web', type=Path)
    ap.add_argument('--truth', type=Path)
    ap.add_argument('--lexicons', type=Path, default=Path(__file__).parent.parent / 'lexicons')
    ap.add_argument('--practice', type=Path)
    ap.add_argument('--lexicon', type=Path)
    ap.add_argument('--proxy', default='http://127.0.0.1:8080')
    a = ap.parse_args()
    moved = {}
    if a.practice:
        topics = {'practice': [line for line in open(a.practice / 'truth.txt', encoding='utf-8') if line.strip()]}
        patterns = [(1, pattern(lexicon(a.lexicon)))] if a.lexicon else []
        bits = {'practice': 1} if a.lexicon else {}
        seeds = open(a.practice / 'seeds.txt', encoding='utf-8').read().split()
        web, moved = fetched(a.proxy, seeds, patterns)
    else:
        if not (a.web and a.truth):
            ap.error('give --web and --truth, or --practice')
        topics = {file.name.split('.')[1]: open(file, encoding='utf-8').read().splitlines()
                  for file in sorted(a.truth.iterdir())}
        bits = {topic: 1 << at for at, topic in enumerate(topics) if (a.lexicons / f'{topic}.toml').exists()}
        patterns = [(bit, pattern(lexicon(a.lexicons / f'{topic}.toml'))) for topic, bit in bits.items()]
        with ProcessPoolExecutor(2) as pool:
            jobs = [(str(a.web), host, patterns) for host in sorted(os.listdir(a.web))]
            web = dict(pool.map(recorded, jobs, chunksize=1))
    tell(web, topics, bits, moved)


def tell(web, topics, bits, moved):
    facts = Facts()
    pages, host_of = {}, {}
    for host, of_host in web.items():
        for key, (path, links, seen, marked) in of_host.items():
            kind, family = kind_of(path)
            pages[key] = [kind, (host, family), {}, seen, marked]
            host_of[key] = host
    dangling = inner = 0
    for host, of_host in web.items():
        for key, (path, links, _, _) in of_host.items():
            for (to_host, to_path), named in links.items():
                to = label_key(to_host, to_path)
                to = moved.get(to, to)
                if to_host == host:
                    inner += 1
                    dangling += to not in pages
                if to in pages and to != key:
                    pages[key][2][to] = pages[key][2].get(to, 0) | named
    relevant = {}
    for topic, urls in topics.items():
        found = (label_key(urlsplit(url.strip().split('\t')[0]).hostname, urlsplit(url.strip().split('\t')[0]).path)
                 for url in urls if url.strip())
        relevant[topic] = {key for key in found if key in pages}
    repeated, posts_of, families = {}, {}, {}
    for host, of_host in web.items():
        count = collections.Counter(to for key in of_host for to in pages[key][2])
        repeated[host] = {to for to, times in count.items() if 2 * times >= len(of_host)}
        posts_of[host] = [key for key in of_host if pages[key][0] == 'post']
        families[host] = collections.defaultdict(set)
        for key in of_host:
            if pages[key][0] == 'tag':
                families[host][pages[key][1]] |= {to for to in pages[key][2] if pages[to][0] == 'post' and
                                                  to not in repeated[host] and host_of[to] == host}
    blogs = [host for host in web if len(posts_of[host]) >= POSTS and len(families[host]) >= TAGS]
    own = {key: [to for to in links if to not in repeated[host_of[key]]] for key, (_, _, links, _, _) in pages.items()}

    print(f'{len(pages)} pages, {len(web)} hosts, {len(blogs)} of them blogs; '
          + ', '.join(f'{topic} {len(keys)}' for topic, keys in relevant.items()) + ' relevant\n')
    print('-- Kinds of pages, on blogs')
    facts.tell('posts of a blog', [len(posts_of[host]) for host in blogs], 'median')
    facts.tell('tags and categories of a blog', [len(families[host]) for host in blogs], 'median')
    for kind in KINDS:
        facts.tell(f'share of pages: {kind}', [share(sum(pages[key][0] == kind for key in web[host]), len(web[host]))
                                              for host in blogs])
    print('-- Listings')
    shown = [len([to for to in own[key] if pages[to][0] == 'post']) for host in blogs for key in web[host]
             if pages[key][0] == 'tag']
    facts.tell('posts on a page of a tag', shown, 'median')
    facts.tell('most posts on a page of a tag, by blog', [max((len([to for to in own[key] if pages[to][0] == 'post'])
               for key in web[host] if pages[key][0] == 'tag'), default=0) for host in blogs], 'median')
    facts.tell('posts on a page of paging (front page and the like)',
               [len([to for to in own[key] if pages[to][0] == 'post']) for host in blogs for key in web[host]
                if pages[key][0] in ('home', 'paging')], 'median')
    facts.tell('posts of a tag', [len(of) for host in blogs for of in families[host].values()], 'median')
    facts.tell('share of a blog\'s posts under its largest tag',
               [max(map(len, families[host].values())) / len(posts_of[host]) for host in blogs])
    tags = {host: collections.Counter(to for of in families[host].values() for to in of) for host in blogs}
    facts.tell('tags of a post, as tags list it', [statistics.fmean([tags[host][key] for key in posts_of[host]])
                                                   for host in blogs])
    facts.tell('tags of a post, as it links them', [statistics.fmean([len({pages[to][1] for to in own[key] if pages[to][0] == 'tag'})
                                                    for key in posts_of[host]]) for host in blogs])
    facts.tell('share of posts that a tag lists', [share(sum(tags[host][key] > 0 for key in posts_of[host]), len(posts_of[host]))
                                                   for host in blogs])
    print('-- Links of a page')
    for kind in ['post', 'tag']:
        keys = {host: [key for key in web[host] if pages[key][0] == kind] for host in blogs}
        facts.tell(f'links of a {kind} page', [len(pages[key][2]) for host in blogs for key in keys[host]], 'median')
        facts.tell(f'share of them repeated on half of the host\'s pages',
                   [share(sum(to in repeated[host] for key in keys[host] for to in pages[key][2]),
                          sum(len(pages[key][2]) for key in keys[host])) for host in blogs])
    facts.tell('links from a post to other posts, not repeated',
               [statistics.fmean([sum(pages[to][0] == 'post' and host_of[to] == host for to in own[key])
                                  for key in posts_of[host]]) for host in blogs], 'median')
    facts.tell('pages of a blog with links to other hosts of this web', [share(sum(any(host_of[to] != host for to in pages[key][2])
               for key in web[host]), len(web[host])) for host in blogs])
    facts.tell('other hosts of this web that a blog links to', [len({host_of[to] for key in web[host] for to in pages[key][2]} - {host})
                                                              for host in blogs])
    facts.tell('blogs with a page of friends', [float(any(pages[key][0] == 'friends' for key in web[host])) for host in blogs])
    facts.say('share of links within a host that dangle', dangling / inner, inner)
    print('-- Dates')
    facts.tell('share of posts with a visible date', [share(sum(pages[key][3] for key in posts_of[host]), len(posts_of[host]))
                                                     for host in blogs])
    facts.tell('share of posts with a date in markup (time, meta, JSON-LD)',
               [share(sum(pages[key][4] for key in posts_of[host]), len(posts_of[host])) for host in blogs])
    print('-- The topic')
    on_blogs = {topic: {key for key in keys if host_of[key] in tags} for topic, keys in relevant.items()}
    facts.tell('share of blogs with a relevant page', [share(sum(any(key in keys for key in web[host]) for host in blogs), len(blogs))
                                                      for keys in on_blogs.values()])
    by_host = {topic: collections.Counter(host_of[key] for key in keys) for topic, keys in on_blogs.items()}
    facts.tell('relevant posts of a blog that has any', [count for of in by_host.values() for count in of.values()], 'median')
    facts.tell('share of such a blog\'s posts', [count / len(posts_of[host]) for of in by_host.values() for host, count in of.items()],
               'median')
    facts.tell('share of the relevant posts on the topic\'s largest blog', [max(of.values()) / sum(of.values())
                                                                          for of in by_host.values() if of])
    # A topical tag: more than half of its posts, two at least, are relevant.
    under, under_any, promising, sizes, of_a_blog = 0, 0, [], [], []
    neighbours, kin, chance, listing_share = [], [], [], []
    anchors = collections.Counter()
    for topic, keys in on_blogs.items():
        for host in by_host[topic]:
            local = {key for key in keys if host_of[key] == host}
            topical = {family for family, of in families[host].items() if len(of) >= 2 and 2 * len(of & local) > len(of)}
            of_a_blog.append(len(topical))
            sizes += [len(families[host][family]) for family in topical]
            listed = set().union(*(families[host][family] for family in topical)) & local if topical else set()
            under += len(listed)
            under_any += len(local)
            chance.append(len(local) / len(posts_of[host]))
            mates = collections.defaultdict(set)
            for family, of in families[host].items():
                for key in of & local:
                    mates[key] |= of
            for key in local:
                near = [to for to in own[key] if pages[to][0] == 'post' and host_of[to] == host]
                if near:
                    neighbours.append(sum(to in keys for to in near) / len(near))
                if len(mates[key]) > 1:
                    kin.append(len(mates[key] & keys - {key}) / (len(mates[key]) - 1))
            if topic in bits:
                for key in web[host]:
                    for to, named in pages[key][2].items():
                        if to in keys:
                            anchors['on'] += 1
                            anchors['on named'] += bool(named & bits[topic])
                        elif pages[to][0] == 'post':
                            anchors['off'] += 1
                            anchors['off named'] += bool(named & bits[topic])
                        elif pages[to][0] == 'tag':
                            side = 'tag on' if pages[to][1] in topical else 'tag off'
                            anchors[side] += 1
                            anchors[side + ' named'] += bool(named & bits[topic])
    facts.tell('topical tags of a blog with relevant posts', of_a_blog)
    facts.tell('posts of a topical tag', sizes, 'median')
    facts.say('share of relevant posts under a topical tag', under / under_any, under_any)
    facts.tell('share of relevant posts among a blog\'s posts (chance)', chance)
    facts.tell('the same among the posts that a relevant post links to (before, after, related)', neighbours)
    facts.tell('the same among the posts that share a tag with it', kin)
    for side, what in [('on', 'links to relevant posts'), ('off', 'links to other posts of the same blogs'),
                       ('tag on', 'links to topical tags'), ('tag off', 'links to other tags of the same blogs')]:
        if anchors[side]:
            facts.say(f'{what} whose anchor has a term of the topic', anchors[side + ' named'] / anchors[side], anchors[side])
    print('-- Tunnels: share of the reachable relevant pages that are reached with at most k off-topic pages in a row')
    draw = random.Random(1)
    per_k, runs = collections.defaultdict(list), collections.Counter()
    for topic, keys in relevant.items():
        homes = sorted(key for key, page in pages.items() if page[0] == 'home')
        for _ in range(DRAWS):
            seeds = draw.sample(homes, min(DRAWN, len(homes)))
            everything = len(reach(pages, seeds, keys, 1 << 30) & keys)
            if everything < 10:
                continue
            for k in range(1, 8):
                per_k[k].append(len(reach(pages, seeds, keys, k) & keys) / everything)
    for k, values in sorted(per_k.items()):
        facts.tell(f'k = {k}', values)


def reach(pages, seeds, relevant, most):
    """The pages reached from home pages when no more than so many off-topic pages in a row are crossed."""
    best = {seed: 1 for seed in seeds}
    queue = collections.deque(seeds)
    while queue:
        key = queue.popleft()
        run = best[key]
        if run > most:
            continue
        for to in pages[key][2]:
            then = 0 if to in relevant else run + 1
            if then < best.get(to, 1 << 30) and then <= most:
                best[to] = then
                queue.append(to)
    return best.keys()


if __name__ == '__main__':
    sys.exit(main())
