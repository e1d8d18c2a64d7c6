#!/usr/bin/env python3
"""Coverage of forums by `suidao forum`, against breadth-first with the same number of pages, for docs/measurements.md.

  benches/forums.py --out OUT [--suidao target/release/suidao]
      [--skins discuz,phpbb,…]                       generated, served by `suidao practice --forum`
      [--software flaskbb,machina,spirit --python P]  real software, see CONTRIBUTING.md; P is the python of its environment
      [--dump SERVE ROOT START --dump-index PATTERN… --dump-thread PATTERN…]
                                                     files under ROOT/hosts, served by the program SERVE as a proxy

Each forum is served on loopback, `suidao forum discover` and `suidao forum crawl` run on it, then `suidao crawl
--strategy breadth-first` five links deep with as many pages as both took. The counts of the programs are not used: every
request goes through a proxy in this program, which records it and answers for no other host.

A page is one of these; robots.txt and redirects are counted separately.
  home     the start page, first time
  index    the first page of a board, or a page of it with a thread that no earlier index page has shown
  first    the first page of a thread, first time
  further  another page of a thread, first time
  wasted   the rest: duplicates under another URL, errors, profiles, samples, pages requested twice
Precision, three ways: threads / all; (all - wasted) / all; threads / (all - index - further), the paper's, which
counts a page of a board or a further page of a thread neither for nor against. Coverage: threads / threads that can
be read without a login. A thread counts once its first page was fetched with status 200. Depth: further pages fetched
/ further pages that the fetched pages' links make known.

The run of docs/measurements.md, where DATA is the folder of the recorded webs:
  benches/forums.py --out bench --skins discuz,discuz-static,phpbb,vbulletin,path,slug,cards,query,tieba,bbs,english \\
      --software flaskbb,machina,spirit --python target/tools/forums/bin/python \\
      --dump DATA/web/serve.py WEB http://php-users-jp.github.io/bbs/ \\
      --dump-index '/bbs/forum-{id}.html' '/bbs/forum-{id}-{page}.html' --dump-thread '/bbs/topic-{id}.html'

With --tables it prints tables 1 and 2 of Li and others 2007 instead: what breadth-first of depth 5 fetches without any
rule against traps, at most --trap-pages pages (table 1), and precision (threads / pages without further pages of boards
and threads) and coverage of the paper's own test of a board (`forum discover --strict`), of the program's, and of
breadth-first with as many pages as the latter (table 2).

Python 3 standard library only."""
import argparse
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from html import unescape
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

REPO = Path(__file__).resolve().parent.parent
# Maximum seconds of one run.
SECONDS = 900
# Parameters that do not change the page: sessions, and the page with the link.
NO_MATTER = {'sid', 's', 'phpsessid', 'jsessionid', 'extra'}
HREF = re.compile(r'''<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))''', re.IGNORECASE)

# URLs of index pages and threads, first page and others: {id} (a number) or {name} identifies the board or thread,
# {page} or {offset} the page, {x} is anything. Pages with other URLs are wasted.
SOFTWARE = {
    'flaskbb': (['/forum/{id}-{x}', '/forum/{id}-{x}?page={page}', '/forum/{id}?page={page}'],
                ['/topic/{id}-{x}', '/topic/{id}', '/topic/{id}-{x}?page={page}', '/topic/{id}?page={page}']),
    'machina': (['/forum/{x}-{id}/', '/forum/{x}-{id}/?page={page}'],
                ['/forum/{x}/topic/{x}-{id}/', '/forum/{x}/topic/{x}-{id}/?page={page}']),
    'spirit': (['/?page={page}', '/category/{id}/{x}/', '/category/{id}/{x}/?page={page}'],
               ['/topic/{id}/{x}/', '/topic/{id}/{x}/?page={page}']),
}
SKINS = {
    'discuz': (['/forum.php?mod=forumdisplay&fid={id}', '/forum.php?mod=forumdisplay&fid={id}&page={page}'],
               ['/forum.php?mod=viewthread&tid={id}', '/forum.php?mod=viewthread&tid={id}&page={page}']),
    'discuz-static': (['/forum-{id}-{page}.html'], ['/thread-{id}-{page}-{x}.html']),
    'phpbb': (['/viewforum.php?f={id}', '/viewforum.php?f={id}&start={offset}'],
              ['/viewtopic.php?f={x}&t={id}', '/viewtopic.php?t={id}', '/viewtopic.php?f={x}&t={id}&start={offset}']),
    'vbulletin': (['/forumdisplay.php?f={id}', '/forumdisplay.php?f={id}&page={page}',
                   '/forumdisplay.php?f={id}&order=desc&page={page}'],
                  ['/showthread.php?t={id}', '/showthread.php?t={id}&page={page}']),
    'path': (['/board/{id}', '/board/{id}/p/{page}'], ['/t/{id}', '/t/{id}/p/{page}']),
    'slug': (['/forum/{x}.{id}/', '/forum/{x}.{id}/page-{page}'], ['/threads/{x}.{id}/', '/threads/{x}.{id}/page-{page}']),
    'cards': (['/c/{x}/{id}', '/c/{x}/{id}?page={page}'], ['/t/{x}/{id}', '/t/{x}/{id}/{page}']),
    'query': (['/index.asp?action=list&boardid={id}', '/index.asp?action=list&boardid={id}&pageno={page}'],
              ['/index.asp?action=show&boardid={x}&id={id}', '/index.asp?action=show&boardid={x}&id={id}&pageno={page}']),
    'tieba': (['/f?kw={name}', '/f?kw={name}&ie=utf-8', '/f?kw={name}&ie=utf-8&pn={offset}'],
              ['/p/{id}', '/p/{id}?pn={page}']),
    'bbs': (['/bbsdoc.php?board={name}', '/bbsdoc.php?board={name}&page={page}'],
            ['/bbstcon.php?board={x}&gid={id}', '/bbstcon.php?board={x}&gid={id}&pno={page}']),
    'english': (['/talk/{id}.html', '/talk/{id}.html?from={offset}'],
                ['/talk/{x}/{id}.html', '/talk/{x}/{id}.html?from={offset}']),
}


class Addresses:
    """Finds the board or thread of a URL, and its page number."""

    def __init__(self, index, thread):
        self.patterns = [(kind, *self._compile(pattern)) for kind, patterns in (('index', index), ('thread', thread))
                         for pattern in patterns]
        self.offsets = any('{offset}' in pattern for pattern in thread)

    @staticmethod
    def _compile(pattern):
        path, _, query = pattern.partition('?')
        regex = re.escape(path)
        for name, what in (('id', r'(?P<id>\d+)'), ('name', r'(?P<id>[^/?]+)'), ('page', r'(?P<page>\d+)'),
                           ('offset', r'(?P<offset>\d+)'), ('x', r'[^/?]+')):
            regex = regex.replace(re.escape('{%s}' % name), what)
        return re.compile(regex + '$'), dict(parse_qsl(query))

    def of(self, url):
        """(kind, id, page) with pages from 1, or an offset from 0; None for other URLs."""
        parts = urlsplit(url)
        given = {key: value for key, value in parse_qsl(parts.query, keep_blank_values=True)
                 if key.lower() not in NO_MATTER}
        for kind, path, query in self.patterns:
            match = path.match(unquote(parts.path))
            if not match or set(query) != set(given):
                continue
            found = {key: value for key, value in match.groupdict().items() if value is not None}
            for key, wanted in query.items():
                if wanted.startswith('{'):
                    found['id' if wanted == '{name}' else wanted[1:-1]] = given[key]
                elif wanted != given[key]:
                    break
            else:
                page = found.get('offset') or found.get('page') or ''
                # The first page has several URLs: without a number, with 1, with offset 0.
                first = page == '' or page == ('0' if 'offset' in found else '1')
                return kind, found.get('id', ''), 'first' if first else page
        return None


class Recorder:
    """A proxy that records every request for one host and refuses all others."""

    def __init__(self, host, upstream):
        self.host, self.upstream, self.seen, lock = host, upstream, [], threading.Lock()
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            # Head and body are written apart: without this, each answer waits for an acknowledgement.
            disable_nagle_algorithm = True

            def do_GET(self):
                parts = urlsplit(self.path)
                if parts.netloc.lower() != recorder.host:
                    return self._give(502, [], b'')
                target = self.path[self.path.index('/', len('http://')):]
                connection = HTTPConnection(*recorder.upstream, timeout=60)
                try:
                    headers = {key: value for key, value in self.headers.items()
                               if key.lower() not in ('host', 'connection', 'proxy-connection', 'accept-encoding')}
                    connection.request('GET', target, headers=headers | {'Host': recorder.host, 'Connection': 'close'})
                    answer = connection.getresponse()
                    body = answer.read()
                finally:
                    connection.close()
                with lock:
                    recorder.seen.append((self.path, answer.status, body))
                kept = [(key, value) for key, value in answer.getheaders()
                        if key.lower() not in ('connection', 'content-length', 'transfer-encoding', 'keep-alive')]
                return self._give(answer.status, kept, body)

            def _give(self, status, headers, body):
                self.send_response(status)
                for key, value in headers:
                    self.send_header(key, value)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.proxy = f'http://127.0.0.1:{self.server.server_address[1]}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self):
        """The requests since the last call."""
        seen, self.seen = self.seen, []
        return seen

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Tally:
    """Requests of one or more runs, classified. See the head of this file."""

    KINDS = ('home', 'index', 'first', 'further', 'wasted')

    def __init__(self, forum):
        self.forum, self.count = forum, dict.fromkeys(self.KINDS, 0)
        self.other, self.pages, self.threads, self.listed, self.rest = 0, set(), set(), set(), {}
        self.known = {}  # thread: numbers of further pages that links lead to

    def add(self, requests):
        for url, status, body in requests:
            kind = self._kind(url, status, body)
            if urlsplit(url).path == '/robots.txt' or 300 <= status < 400:
                self.other += 1
            else:
                self.count[kind] += 1
            if kind == 'wasted':
                path = unquote(url.removeprefix(f'http://{self.forum.host}'))
                shape = f'{status} ' + re.sub(r'(?:(?<=[/=])|(?<=N-))[^/?&=.]*[^\x00-\x7f-][^/?&=.]*|[\w-]{24,}', '…',
                                              re.sub(r'\d+', 'N', path))
                self.rest[shape[:80]] = self.rest.get(shape[:80], 0) + 1

    def _kind(self, url, status, body):
        home = url == self.forum.start
        found = ('home', '', '') if home else self.forum.addresses.of(url)
        if found is None or status != 200 or found in self.pages:
            return 'wasted'
        kind, of, page = found
        if kind in ('home', 'index'):
            listed = self._threads_on(url, body)
            new, self.listed = listed - self.listed, self.listed | listed
            if not new and not home and page != 'first':
                return 'wasted'
        elif of not in self.forum.readable:
            return 'wasted'
        else:
            self._threads_on(url, body)
            if page == 'first':
                self.threads.add(of)
        self.pages.add(found)
        return kind if kind != 'thread' else 'first' if page == 'first' else 'further'

    def _threads_on(self, url, body):
        threads = set()
        for groups in HREF.findall(body.decode('utf-8', 'replace')):
            try:
                found = self.forum.addresses.of(urljoin(url, unescape(next(filter(None, groups), ''))))
            except ValueError:
                continue
            if found and found[0] == 'thread':
                threads.add(found[1])
                if found[2] != 'first' and found[1] in self.forum.readable:
                    self.known.setdefault(found[1], set()).add(int(found[2]))
        return threads

    def depth(self):
        """Further pages fetched / known. A number is that of a page, from 2, or of a post, of which the first counts."""
        numbers = [number for known in self.known.values() for number in known]
        if not numbers:
            return 1.0
        offset = 0 if self.forum.addresses.offsets else 1
        step = min(numbers) if self.forum.addresses.offsets else 1
        return self.count['further'] / sum((max(known) - offset) // step for known in self.known.values())

    @property
    def all(self):
        return sum(self.count.values())

    def precision(self):
        """Precision: of all pages, without wasted ones, as in the paper."""
        threads, fetched = len(self.threads), max(1, self.all)
        paper = max(1, self.all - self.count['index'] - self.count['further'])
        return threads / fetched, 1 - self.count['wasted'] / fetched, threads / paper

    def coverage(self):
        return len(self.threads) / max(1, len(self.forum.readable))


class Forum:
    """A served forum: its start page, the patterns of its URLs, and the threads that are public."""

    def __init__(self, name, start, upstream, patterns, readable_urls):
        self.name, self.start = name, start
        self.host = urlsplit(start).netloc.lower()
        self.addresses = Addresses(*patterns)
        found = [self.addresses.of(url) for url in readable_urls]
        self.readable = {of for kind, of, _ in filter(None, found) if kind == 'thread'}
        if len(self.readable) != len(readable_urls):
            raise SystemExit(f'{name}: {len(readable_urls)} threads have {len(self.readable)} ids by the patterns given')
        self.recorder = Recorder(self.host, upstream)


# Servers of the current forum, ended with it.
SERVERS = []


def end(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        return free.getsockname()[1]


def started(command, port, there, log):
    """Starts a server; waits until it answers and the files `there` exist."""
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    SERVERS.append(process)
    begun = time.monotonic()
    while True:
        try:
            socket.create_connection(('127.0.0.1', port), timeout=1).close()
            if there is None or there.exists():
                return
        except OSError:
            pass
        if process.poll() is not None or time.monotonic() - begun > 90:
            raise SystemExit(f'does not serve: {command}, see {log.name}')
        time.sleep(0.1)


def skin(a, name, folder, log):
    port = free_port()
    command = [a.suidao, 'practice', folder / 'forum', '--forum', name, '--port', port, '--threads', a.threads]
    started(command, port, folder / 'forum' / 'seeds.txt', log)
    threads = (folder / 'forum' / 'threads.txt').read_text().split()
    start = (folder / 'forum' / 'seeds.txt').read_text().split()[0]
    return Forum(name, start, ('127.0.0.1', port), SKINS[name], threads)


def software(a, name, folder, log):
    port = free_port()
    script = REPO / 'tests' / 'forums' / f'{name}.py'
    command = [a.python, '-B', script, '--data', folder / 'forum', '--port', port, '--threads', a.threads]
    started(command, port, folder / 'forum' / 'truth.json', log)
    truth = json.loads((folder / 'forum' / 'truth.json').read_text(encoding='utf-8'))
    threads = [thread['url'] for thread in truth['threads'] if thread['readable']]
    return Forum(truth['software'], truth['home'], ('127.0.0.1', port), SOFTWARE[name], threads)


def dump(a, log):
    serve, root, start = a.dump
    port, host = free_port(), urlsplit(start).netloc
    started([sys.executable, serve, '--root', root, '--port', port, '--log', '/dev/null', '--procs', 1], port,
                      None, log)
    patterns = (a.dump_index, a.dump_thread)
    addresses, base = Addresses(*patterns), Path(root) / 'hosts' / host
    urls = [f'http://{host}/{file.relative_to(base)}' for file in sorted(base.rglob('*')) if file.is_file()]
    threads = [url for url in urls if (found := addresses.of(url)) and found[0] == 'thread' and found[2] == 'first']
    return Forum(host, start, ('127.0.0.1', port), patterns, threads)


def settings(forum):
    pairs = {'politeness.delay': 0, 'politeness.backoff': 0, 'politeness.robots_retry': 0,
             'fetch.proxy': forum.recorder.proxy, 'fetch.allow_private': 'true', 'fetch.contact': 'bench@example.org',
             'scope.allow_hosts': json.dumps([forum.host.partition(':')[0]])}
    return [word for key, value in pairs.items() for word in ('--set', f'{key}={value}')]


def run_logged(command, log):
    command = [str(word) for word in command]
    print('$', ' '.join(command), file=log, flush=True)
    begun = time.monotonic()
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=SECONDS)
    print(f'# exit {ended.returncode} after {time.monotonic() - begun:.0f} s', file=log, flush=True)
    return ended.returncode


def forum_crawl(a, forum, folder, log, strict=()):
    name = 'strict' if strict else 'forum'
    ours, found = Tally(forum), folder / f'{name}.toml'
    codes = [run_logged([a.suidao, 'forum', 'discover', forum.start, '-o', found, *strict, *settings(forum)], log)]
    requests = forum.recorder.take()
    ours.add(requests)
    if codes[0] == 0:
        command = [a.suidao, 'forum', 'crawl', found, '-o', folder / f'crawl-{name}', '--max-pages', a.pages, *settings(forum)]
        codes.append(run_logged(command, log))
        ours.add(forum.recorder.take())
    return ours, len(requests), codes


# Rules against traps, turned off: the paper's breadth-first has none.
NO_TRAP_RULES = {'repeats': 0, 'max_segments': 0, 'series': 0, 'sessions': 'false', 'soft_404': 'false', 'missing': 0,
                 'mirrors': 0, 'near_duplicates': 'false'}


def breadth_first(a, forum, folder, pages, log, rules=True):
    off = [] if rules else [word for key, value in NO_TRAP_RULES.items() for word in ('--set', f'traps.{key}={value}')]
    out = folder / ('breadth-first' if rules else 'traps')
    (folder / 'words.txt').write_text('足球\n篮球\n比赛\n')
    (folder / 'seeds.txt').write_text(forum.start + '\n')
    run_logged([a.suidao, 'topic', 'build', '-o', folder / 'lexicon.toml', '--name', 'any', '--keywords', folder / 'words.txt'],
         log)
    run_logged([a.suidao, 'crawl', '-m', folder / 'lexicon.toml', '-s', folder / 'seeds.txt', '-o', out,
          '--strategy', 'breadth-first', '--set', 'limits.depth=5', '--set', 'crawl.forums=false',
          '--max-pages', pages, *off, *settings(forum)], log)
    tally = Tally(forum)
    tally.add(forum.recorder.take())
    return tally


def line(name, tally, readable, discover=''):
    counts = ' | '.join(str(tally.count[kind]) for kind in Tally.KINDS)
    shares = ' | '.join(f'{share:.3f}' for share in tally.precision())
    return (f'| {name} | {readable} | {len(tally.threads)} | {tally.coverage():.3f} | {tally.depth():.3f} | {tally.all} | {tally.other} '
            f'| {discover} | {counts} | {shares} |')


def measure(a, name, start):
    folder = a.out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with open(folder / 'log', 'w') as log:
        forum = None
        try:
            forum = start(folder, log)
            readable = len(forum.readable)
            pages = a.pages
            if a.only != 'breadth-first':
                ours, discover, codes = forum_crawl(a, forum, folder, log)
                print(line(forum.name, ours, readable, discover), flush=True)
                write_rest(folder / 'wasted.txt', ours)
                pages = max(1, ours.all)
                if any(codes):
                    print(f'{forum.name}: exit {codes}, see {folder / "log"}', file=sys.stderr)
            if a.only != 'forum':
                theirs = breadth_first(a, forum, folder, pages, log)
                print(line(f'{forum.name}, breadth-first', theirs, readable), flush=True)
                write_rest(folder / 'wasted-breadth-first.txt', theirs)
        finally:
            if forum:
                forum.recorder.close()
            while SERVERS:
                end(SERVERS.pop())


def paper_tables(a, name, start):
    """A row of table 1 and one of table 2."""
    folder = a.out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with open(folder / 'log', 'w') as log:
        forum = None
        try:
            forum = start(folder, log)
            traps = breadth_first(a, forum, folder, a.trap_pages, log, rules=False)
            strict, _, _ = forum_crawl(a, forum, folder, log, strict=('--strict',))
            ours, _, _ = forum_crawl(a, forum, folder, log)
            theirs = breadth_first(a, forum, folder, max(1, ours.all), log)
            share = lambda tally: f'{100 * tally.precision()[2]:.1f} | {100 * tally.coverage():.1f}'
            most = ' (at most)' if traps.all >= a.trap_pages else ''
            return (f'| {forum.name} | {traps.all:,}{most} | {traps.count["wasted"]:,} | {len(traps.threads)} | {len(forum.readable)} |',
                    f'| {forum.name} | {share(strict)} | {share(ours)} | {share(theirs)} |')
        finally:
            if forum:
                forum.recorder.close()
            while SERVERS:
                end(SERVERS.pop())


def print_tables(rows):
    print('Table 1\n\n| forum | pages of breadth-first, depth 5 | wasted | threads among them | threads |\n|---' + '|---:' * 4 + '|')
    print('\n'.join(one for one, _ in rows))
    print('\nTable 2, in per cent\n\n| forum | strict: precision | coverage | suidao: precision | coverage '
          '| breadth-first: precision | coverage |\n|---' + '|---:' * 6 + '|')
    print('\n'.join(two for _, two in rows), flush=True)


def write_rest(path, tally):
    rest = sorted(tally.rest.items(), key=lambda entry: (-entry[1], entry[0]))
    path.write_text(''.join(f'{count}\t{shape}\n' for shape, count in rest))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('--suidao', type=Path, default=REPO / 'target' / 'release' / 'suidao')
    parser.add_argument('--skins', default='', help='of ' + ', '.join(SKINS))
    parser.add_argument('--software', default='', help='of ' + ', '.join(SOFTWARE))
    parser.add_argument('--python', type=Path, help='what tests/forums/install.sh installed')
    parser.add_argument('--dump', nargs=3, metavar=('SERVE', 'ROOT', 'START'))
    parser.add_argument('--dump-index', nargs='+', default=[], metavar='PATTERN')
    parser.add_argument('--dump-thread', nargs='+', default=[], metavar='PATTERN')
    parser.add_argument('--only', choices=['forum', 'breadth-first'], help='one of the two')
    parser.add_argument('--pages', type=int, default=6000, help='most of a forum crawl, and of breadth-first alone')
    parser.add_argument('--threads', type=int, default=400, help='about so many a forum, but for the dump')
    parser.add_argument('--tables', action='store_true', help='print tables 1 and 2 of Li and others 2007')
    parser.add_argument('--trap-pages', type=int, default=20000, help='most pages of breadth-first for table 1')
    a = parser.parse_args()
    names = [(name, SKINS) for name in a.skins.split(',') if name] + \
        [(name, SOFTWARE) for name in a.software.split(',') if name]
    for name, known in names:
        if name not in known:
            parser.error(f'{name} is none of {", ".join(known)}')
    if a.software and not a.python:
        parser.error('--software needs --python')
    if a.dump and not a.dump_thread:
        parser.error('--dump needs --dump-thread')
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers are ended
    if a.tables:
        serve = {True: skin, False: software}
        return print_tables([paper_tables(a, name, lambda folder, log, name=name, known=known:
                                          serve[known is SKINS](a, name, folder, log)) for name, known in names])
    print('| forum | threads readable | obtained | coverage | depth | pages | redirects and robots.txt | to discover | ' + ' | '.join(Tally.KINDS)
          + ' | threads / all | not wasted / all | paper\'s |\n|---' + '|---:' * 15 + '|', flush=True)
    for name, known in names:
        serve = skin if known is SKINS else software
        measure(a, name, lambda folder, log, serve=serve, name=name: serve(a, name, folder, log))
    if a.dump:
        measure(a, 'dump', lambda folder, log: dump(a, log))


main()
