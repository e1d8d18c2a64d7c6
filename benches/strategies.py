#!/usr/bin/env python3
"""The strategies side by side on the recorded Chinese web: crawls over real HTTP on loopback, scored from the server's
log by the authors' labels. Prints the tables of docs/strategies.md.

  benches/strategies.py --shared ../shared --web WEB --out OUT [--topics ml,security,literature] [--pages 5000]
                        [--in-flight 1] [--suidao target/release/suidao] [--only "dth queue,pagerank"]

WEB is the unpacked web (see ../shared/web/README.md). For each topic a lexicon is learnt from the labelled pages of the
hosts that are no seeds of it, at most 60 a host; those hosts are then left out of the scoring: their pages count neither
as fetched nor as relevant. Python 3 standard library only."""
import argparse
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

STRATEGIES = {
    'breadth-first': [],
    'best-first hard': ['--set', 'strategy.best-first.focus=hard'],
    'best-first soft': ['--set', 'strategy.best-first.focus=soft'],
    'pagerank': [],
    'url-weight': [],
    'dth preempt': ['--set', 'strategy.dth.reading=preempt'],
    'dth queue': ['--set', 'strategy.dth.reading=queue'],
    'dth interleave': ['--set', 'strategy.dth.reading=interleave'],
    'dth link-scored': ['--set', 'strategy.dth.reading=link-scored'],
}
MARKS = [500, 1000, 2000, 5000]

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument('--shared', type=Path, required=True)
ap.add_argument('--web', type=Path, required=True)
ap.add_argument('--out', type=Path, required=True)
ap.add_argument('--topics', default='ml,security,literature')
ap.add_argument('--pages', type=int, default=5000)
ap.add_argument('--in-flight', type=int, default=1)
ap.add_argument('--suidao', type=Path, default=Path('target/release/suidao'))
ap.add_argument('--only')
a = ap.parse_args()
shared = a.shared / 'web'
tasks = json.load(open(shared / 'tasks.json'))


def page_file(url):
    """The file a URL was unpacked to."""
    parts = urlsplit(url)
    path = a.web / 'hosts' / parts.hostname / unquote(parts.path).lstrip('/')
    if url.endswith('/'):
        files = [path / 'index.html', path / 'index.htm']
    else:
        files = [path, path / 'index.html', path.with_name(path.name + '.html')]
    return next((file for file in files if file.is_file()), None)


def samples(topic, seeds, labelled):
    """Copies labelled pages of hosts that are no seeds, at most 60 a host; returns those hosts."""
    folder = a.out / topic / 'samples'
    shutil.rmtree(folder, ignore_errors=True)
    count = {}
    urls = [url for url in labelled if urlsplit(url).hostname not in seeds]
    random.Random(1).shuffle(urls)
    for url in urls:
        host, file = urlsplit(url).hostname, page_file(url)
        if count.setdefault(host, 0) >= 60 or file is None:
            continue
        count[host] += 1
        target = folder / host / f'{count[host]:03}.html'
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    print(f'\n<!-- {topic}: learnt from {sum(count.values())} pages of {len(count)} hosts -->', flush=True)
    return set(count)


def background(seeds):
    """Copies 20 pages of each host that is no seed of any topic, to tell the topic from."""
    folder = a.out / 'background'
    if not folder.exists():
        for host in sorted(set(os.listdir(a.web / 'hosts')) - seeds):
            files = sorted((a.web / 'hosts' / host).rglob('*.html'))
            random.Random(2).shuffle(files)
            for number, file in enumerate(files[:20]):
                target = folder / host / f'{number:03}.html'
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    return folder


def crawl(topic, lexicon, name, flags, left_out, truth):
    """Crawls and scores: relevant pages and the hosts they are on, at each mark."""
    out = a.out / topic / name.replace(' ', '-')
    log = out.with_name(out.name + '.log')
    shutil.rmtree(out, ignore_errors=True)
    log.unlink(missing_ok=True)
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, shared / 'serve.py', '--root', a.web, '--hosts', shared / 'hosts.dev.txt',
                               '--port', str(port), '--log', log, '--procs', '1'], stderr=subprocess.DEVNULL)
    try:
        time.sleep(1)
        # A few pages more than are scored: pages of the hosts left out are not counted.
        subprocess.run([a.suidao, '-q', 'crawl', '-m', lexicon, '-s', a.out / topic / 'seeds.txt', '-o', out,
                        '--strategy', name.split()[0], '--max-pages', str(a.pages + 1500),
                        '--proxy', f'http://127.0.0.1:{port}', '--set', 'politeness.delay=0',
                        '--set', f'crawl.in_flight={a.in_flight}', *flags], timeout=900)
    finally:
        server.kill()
        server.wait()
    scored = out.with_name(out.name + '.scored.log')
    with open(scored, 'w') as lines:
        lines.writelines(line for line in open(log) if line.split('\t')[1] not in left_out)
    shutil.rmtree(out, ignore_errors=True)
    table = subprocess.run([sys.executable, shared / 'score.py', '--log', scored, '--truth', truth,
                            '--at', ','.join(map(str, MARKS))], capture_output=True, text=True, check=True).stdout
    rows = [line.split('\t') for line in table.splitlines()[1:]]
    cells = {int(row[0]): f'{row[1]} ({row[4]})' for row in rows}
    last = max(cells)
    return [cells.get(mark, f'ended at {last}: {cells[last]}' if last < mark else '') for mark in MARKS]


all_seeds = {urlsplit(seed).hostname for task in tasks.values() for seed in task['seeds']}
for topic in a.topics.split(','):
    (a.out / topic).mkdir(parents=True, exist_ok=True)
    seeds = {urlsplit(seed).hostname for seed in tasks[topic]['seeds']}
    labelled = [line.split('\t')[0].strip() for line in open(shared / tasks[topic]['truth']) if line.strip()]
    left_out = samples(topic, seeds, labelled)
    kept = [url for url in labelled if urlsplit(url).hostname not in left_out]
    truth = a.out / topic / 'truth.txt'
    truth.write_text('\n'.join(kept) + '\n')
    (a.out / topic / 'seeds.txt').write_text('\n'.join(tasks[topic]['seeds']) + '\n')
    lexicon = a.out / topic / 'lexicon.toml'
    subprocess.run([a.suidao, 'topic', 'build', '-o', lexicon, '--name', topic, '--pages', a.out / topic / 'samples',
                    '--background', background(all_seeds)], check=True, stdout=subprocess.DEVNULL)
    print(f'\n### {topic}: {len(kept)} relevant pages on the hosts scored\n')
    print('| strategy | ' + ' | '.join(map(str, MARKS)) + ' |\n|---' + '|---:' * len(MARKS) + '|')
    for name, flags in STRATEGIES.items():
        if not a.only or name in a.only.split(','):
            print(f'| {name} | ' + ' | '.join(crawl(topic, lexicon, name, flags, left_out, truth)) + ' |', flush=True)
