//! What reading made of each URL of a web, kept on disk, so that a page is read once and a further strategy costs only
//! its own work.
//!
//! One file for each web, lexicon and version of the reader: a line of magic, then frames, appended. A frame is
//! `length u32, sum u32, key u64` (little endian) and so many bytes: the length of the postcard of the [`Outcome`] as u32,
//! and that postcard packed with zstd. A file is changed under a lock of the system only, so that processes may share
//! it; what a process adds is read by the others when they add something. A tail that is torn is cut off by the next
//! that adds, and a frame that does not read counts as not there.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128};

use super::RecordedError;
use crate::crawl::{Outcome, Wanted};
use crate::model::{CrawlUrl, Failure, FailureKind};
use crate::replay::{Reading, Source};
use crate::topic::Topic;

/// Version of what a page is read into: raised with every change of `read`, `text` or `topic` that changes evidence, and
/// of the types it is made of. A test of this file fails where that was forgotten.
const READER: u32 = 14;

const MAGIC: &[u8; 18] = b"suidao evidence 1\n";
/// Bytes before what a frame holds.
const HEAD: usize = 16;
/// Bytes gathered before they are appended.
const PENDING: usize = 1 << 20;

/// The evidence of one web under one lexicon; threads may share it.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// How far the file is known.
    end: u64,
    index: FxHashMap<u64, Entry>,
    /// Frames not appended yet.
    pending: Vec<u8>,
    /// The disk takes no more: what is kept is read, nothing is added.
    full: bool,
}

/// Where a frame's content lies.
#[derive(Clone, Copy, Debug)]
enum Entry {
    Kept { at: u64, length: u32, sum: u32 },
    Pending { at: usize, length: u32, sum: u32 },
}

impl Cache {
    /// Opens the evidence of a web in directory `dir`, made if missing. `web` is what tells the web from all others and
    /// from itself at another time ([`super::Opened::identity`]).
    ///
    /// # Errors
    /// [`RecordedError::Cache`] if directory or file cannot be made or read.
    pub fn open(dir: &Path, web: &str, topic: &Topic) -> Result<Self, RecordedError> {
        let key = format!("{READER} {}\n{}\n{web}", env!("CARGO_PKG_VERSION"), topic.digest());
        let path = dir.join(format!("{:032x}.evidence", xxh3_128(key.as_bytes())));
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |source| RecordedError::Cache { path, source }
        };
        fs::create_dir_all(dir).map_err(fail(dir))?;
        let options = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = options.map_err(fail(&path))?;
        let mut state = State { file, end: 0, index: FxHashMap::default(), pending: Vec::new(), full: false };
        state.absorb().map_err(fail(&path))?;
        Ok(Self { path, state: Mutex::new(state) })
    }

    /// How many URLs it has evidence of.
    pub fn len(&self) -> usize {
        self.state().index.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked did so between two whole steps: the index never names what is not there.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, key: u64) -> Option<Outcome> {
        let mut state = self.state();
        let entry = *state.index.get(&key)?;
        let packed = state.content(entry);
        drop(state);
        let outcome = packed.and_then(|packed| unpack(&packed));
        if outcome.is_none() {
            self.state().index.remove(&key);
        }
        outcome
    }

    /// Adds an outcome unless another thread has.
    fn put(&self, key: u64, outcome: &Outcome) {
        let Some(packed) = pack(outcome) else { return };
        let mut state = self.state();
        if state.full || state.index.contains_key(&key) {
            return;
        }
        state.add(key, &packed);
        if state.pending.len() >= PENDING {
            self.append(&mut state);
        }
    }

    /// Appends what is pending. A disk that does not take it is told of once, and costs only the cache.
    fn append(&self, state: &mut State) {
        if let Err(error) = state.append() {
            state.full = true;
            tracing::warn!(
                "{}: no more evidence is kept: {error}; free some space, or give --cache or --no-cache",
                self.path.display()
            );
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        let mut state = self.state();
        if !state.pending.is_empty() && !state.full {
            self.append(&mut state);
        }
    }
}

impl State {
    /// Takes in the frames behind what is known of the file, as far as they are whole.
    fn absorb(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        self.file.seek(SeekFrom::Start(self.end))?;
        let mut input = BufReader::with_capacity(1 << 16, &self.file);
        if self.end == 0 {
            let mut magic = [0; MAGIC.len()];
            if length < MAGIC.len() as u64 {
                return Ok(());
            }
            input.read_exact(&mut magic)?;
            if &magic != MAGIC {
                return Ok(());
            }
            self.end = MAGIC.len() as u64;
        }
        let mut head = [0; HEAD];
        while self.end + HEAD as u64 <= length {
            input.read_exact(&mut head)?;
            let (content, sum, key) = split(&head);
            let next = self.end + (HEAD as u64) + u64::from(content);
            if content == 0 || next > length {
                break;
            }
            self.index.insert(key, Entry::Kept { at: self.end + HEAD as u64, length: content, sum });
            input.seek_relative(i64::from(content))?;
            self.end = next;
        }
        Ok(())
    }

    fn add(&mut self, key: u64, packed: &[u8]) {
        let Ok(length) = u32::try_from(packed.len()) else { return };
        let sum = checksum(packed);
        self.pending.extend_from_slice(&length.to_le_bytes());
        self.pending.extend_from_slice(&sum.to_le_bytes());
        self.pending.extend_from_slice(&key.to_le_bytes());
        self.index.insert(key, Entry::Pending { at: self.pending.len(), length, sum });
        self.pending.extend_from_slice(packed);
    }

    /// Appends what is pending behind all that is whole in the file by now.
    fn append(&mut self) -> io::Result<()> {
        self.file.lock()?;
        let appended = self.append_locked();
        let unlocked = self.file.unlock();
        appended.and(unlocked)
    }

    fn append_locked(&mut self) -> io::Result<()> {
        // Another process may have read the same, and what it added is not added again.
        let mine: Vec<(u64, Entry)> = self
            .index
            .iter()
            .filter(|(_, entry)| matches!(entry, Entry::Pending { .. }))
            .map(|(&k, &e)| (k, e))
            .collect();
        self.absorb()?;
        self.file.set_len(self.end)?;
        let mut out = Vec::with_capacity(self.pending.len() + MAGIC.len());
        if self.end == 0 {
            out.extend_from_slice(MAGIC);
        }
        let mut mine: Vec<(usize, u64, u32, u32)> = mine
            .into_iter()
            .filter_map(|(key, entry)| match (entry, self.index.get(&key)) {
                (Entry::Pending { at, length, sum }, Some(Entry::Pending { .. })) => Some((at, key, length, sum)),
                _ => None,
            })
            .collect();
        // In the order they came, and not in a hash map's.
        mine.sort_unstable();
        let mut kept = Vec::with_capacity(mine.len());
        for (at, key, length, sum) in mine {
            let end = at + length as usize;
            out.extend_from_slice(&self.pending[at - HEAD..end]);
            kept.push((key, Entry::Kept { at: self.end + (out.len() - length as usize) as u64, length, sum }));
        }
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&out)?;
        self.end += out.len() as u64;
        self.index.extend(kept);
        self.pending.clear();
        Ok(())
    }

    fn content(&mut self, entry: Entry) -> Option<Vec<u8>> {
        let (packed, sum) = match entry {
            Entry::Pending { at, length, sum } => (self.pending.get(at..at + length as usize)?.to_vec(), sum),
            Entry::Kept { at, length, sum } => {
                let mut packed = vec![0; length as usize];
                self.file.seek(SeekFrom::Start(at)).ok()?;
                self.file.read_exact(&mut packed).ok()?;
                (packed, sum)
            }
        };
        (checksum(&packed) == sum).then_some(packed)
    }
}

/// Length of the content, its sum, its key.
fn split(head: &[u8; HEAD]) -> (u32, u32, u64) {
    let number = u128::from_le_bytes(*head);
    #[allow(clippy::cast_possible_truncation)] // the parts are cut out
    (number as u32, (number >> 32) as u32, (number >> 64) as u64)
}

#[allow(clippy::cast_possible_truncation)] // half of it will do
fn checksum(packed: &[u8]) -> u32 {
    xxh3_64(packed) as u32
}

fn pack(outcome: &Outcome) -> Option<Vec<u8>> {
    let plain = postcard::to_stdvec(outcome).ok()?;
    let mut packed = u32::try_from(plain.len()).ok()?.to_le_bytes().to_vec();
    packed.extend(zstd::bulk::compress(&plain, 1).ok()?);
    Some(packed)
}

fn unpack(packed: &[u8]) -> Option<Outcome> {
    let (length, packed) = packed.split_first_chunk::<4>()?;
    let plain = zstd::bulk::decompress(packed, u32::from_le_bytes(*length) as usize).ok()?;
    postcard::from_bytes(&plain).ok()
}

/// A web read with a topic, each URL once.
pub struct Cached<'a> {
    /// What reads a URL that there is no evidence of.
    pub reading: Reading<'a>,
    /// What there is.
    pub cache: &'a Cache,
}

impl Source for Cached<'_> {
    fn outcome(&self, wanted: &Wanted, url: &CrawlUrl) -> Outcome {
        // The same URL means one thing as a page and another as rules for robots.
        let key = xxh3_64_with_seed(url.as_str().as_bytes(), u64::from(matches!(wanted, Wanted::Robots { .. })));
        if let Some(outcome) = self.cache.get(key) {
            return outcome;
        }
        // What is kept is for every crawl: another may look at the page as one of a forum.
        let wanted = if let Wanted::Plain(id) = wanted { &Wanted::Page(*id) } else { wanted };
        let mut outcome = self.reading.outcome(wanted, url);
        if let Outcome::Page { page, .. } = &mut outcome {
            page.text = String::new();
        }
        // A file that could not be read may be readable next time.
        if !matches!(&outcome, Outcome::Failed(Failure { kind: FailureKind::Broken, .. })) {
            self.cache.put(key, &outcome);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use bytes::Bytes;

    use super::*;
    use crate::model::{Fetched, HostId, UrlId};
    use crate::replay::Web;
    use crate::topic::Lexicon;

    const PAGE: &str = "<html><head><title>足球 比赛</title><meta charset=utf-8></head><body><div class=nav>\
        <a href=/>首页</a></div><article><p>足球联赛今天开赛，球队在主场迎战对手，进球的是前锋。</p>\
        <p><a href=\"/a?b=1\">球队 名单</a> 看 <a href=http://b.test/ rel=nofollow>别的</a></p></article></body></html>";

    fn topic(terms: &[(&str, f64)]) -> Topic {
        Topic::new(Lexicon::from_terms("体育", terms))
    }

    fn sports() -> Topic {
        topic(&[("足球", 1.0), ("球队", 0.5)])
    }

    /// A web that counts how often it is asked.
    #[derive(Default)]
    struct Counting(AtomicU64);

    impl Web for Counting {
        fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let (status, name, value) = match url.path() {
                "/gone" => (404, "content-type", "text/html"),
                "/moved" => (301, "location", "/"),
                "/down" => return Err(Failure { kind: FailureKind::Dns, retry_after: None }),
                "/broken" => return Err(Failure { kind: FailureKind::Broken, retry_after: None }),
                _ => (200, "content-type", "text/html"),
            };
            let headers = vec![(name.to_owned(), value.to_owned())];
            Ok(Fetched {
                url: url.clone(),
                status,
                headers,
                body: Bytes::from_static(PAGE.as_bytes()),
                wire: None,
                asked: None,
                rendered: None,
            })
        }
    }

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://a.test{path}")).unwrap()
    }

    const PATHS: [&str; 6] = ["/", "/page", "/gone", "/moved", "/down", "/robots.txt"];

    fn outcomes(web: &Counting, topic: &Topic, cache: &Cache) -> Vec<Outcome> {
        let source = Cached { reading: Reading { web, topic }, cache };
        let page = |path: &&str| source.outcome(&Wanted::Page(UrlId(0)), &url(path));
        let robots = source.outcome(&Wanted::Robots { host: HostId(0), https: false }, &url("/robots.txt"));
        PATHS.iter().map(page).chain([robots]).collect()
    }

    fn files(dir: &Path) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    #[test]
    fn each_url_is_read_once_and_gives_the_same_each_time() {
        let (dir, web, topic) = (tempfile::tempdir().unwrap(), Counting::default(), sports());
        let reading = Reading { web: &web, topic: &topic };
        let mut plain: Vec<Outcome> =
            PATHS.iter().map(|path| reading.outcome(&Wanted::Page(UrlId(0)), &url(path))).collect();
        plain.push(reading.outcome(&Wanted::Robots { host: HostId(0), https: false }, &url("/robots.txt")));
        for outcome in &mut plain {
            if let Outcome::Page { page, .. } = outcome {
                assert!(page.relevance.get() > 0.0 && !page.outlinks.is_empty());
                page.text = String::new();
            }
        }
        let open = || Cache::open(dir.path(), "web", &topic).unwrap();
        let cache = open();
        let before = web.0.load(Ordering::Relaxed);
        assert_eq!(outcomes(&web, &topic, &cache), plain);
        assert_eq!(outcomes(&web, &topic, &cache), plain, "from memory");
        drop(cache);
        assert_eq!(outcomes(&web, &topic, &open()), plain, "from disk");
        assert_eq!(web.0.load(Ordering::Relaxed) - before, plain.len() as u64);
        // What may be readable next time is not kept.
        let source = Cached { reading: Reading { web: &web, topic: &topic }, cache: &open() };
        for _ in 0..2 {
            source.outcome(&Wanted::Page(UrlId(0)), &url("/broken"));
        }
        assert_eq!(web.0.load(Ordering::Relaxed) - before, plain.len() as u64 + 2);
    }

    #[test]
    fn another_web_or_lexicon_has_evidence_of_its_own() {
        let (dir, web) = (tempfile::tempdir().unwrap(), Counting::default());
        let (one, other) = (sports(), topic(&[("前锋", 1.0)]));
        drop(outcomes(&web, &one, &Cache::open(dir.path(), "web", &one).unwrap()));
        assert!(Cache::open(dir.path(), "web", &other).unwrap().is_empty());
        assert!(Cache::open(dir.path(), "web 2", &one).unwrap().is_empty());
        assert_eq!(Cache::open(dir.path(), "web", &one).unwrap().len(), PATHS.len() + 1);
    }

    #[test]
    fn a_torn_tail_costs_only_what_it_held() {
        let (dir, web, topic) = (tempfile::tempdir().unwrap(), Counting::default(), sports());
        let open = || Cache::open(dir.path(), "web", &topic).unwrap();
        let expected = outcomes(&web, &topic, &open());
        let path = files(dir.path()).remove(0);
        let whole = fs::read(&path).unwrap();
        for length in (0..whole.len()).step_by(7) {
            let zeros = vec![0; 40];
            for tail in [&[][..], &zeros, b"\xff\xff\xff\x7f rubbish that promises more than there is"] {
                fs::write(&path, [&whole[..length], tail].concat()).unwrap();
                assert_eq!(outcomes(&web, &topic, &open()), expected, "{length}");
                let before = web.0.load(Ordering::Relaxed);
                assert_eq!(outcomes(&web, &topic, &open()), expected, "{length}");
                assert_eq!(web.0.load(Ordering::Relaxed), before, "{length}");
            }
        }
    }

    #[test]
    fn a_damaged_frame_is_read_anew() {
        let (dir, web, topic) = (tempfile::tempdir().unwrap(), Counting::default(), sports());
        let open = || Cache::open(dir.path(), "web", &topic).unwrap();
        let expected = outcomes(&web, &topic, &open());
        let path = files(dir.path()).remove(0);
        let mut bytes = fs::read(&path).unwrap();
        bytes[MAGIC.len() + HEAD + 20] ^= 0x55;
        fs::write(&path, bytes).unwrap();
        let before = web.0.load(Ordering::Relaxed);
        assert_eq!(outcomes(&web, &topic, &open()), expected);
        assert_eq!(outcomes(&web, &topic, &open()), expected);
        assert_eq!(web.0.load(Ordering::Relaxed), before + 1);
    }

    #[test]
    fn two_that_write_share_a_file() {
        let (dir, web, topic) = (tempfile::tempdir().unwrap(), Counting::default(), sports());
        let (one, two) =
            (Cache::open(dir.path(), "web", &topic).unwrap(), Cache::open(dir.path(), "web", &topic).unwrap());
        let read = |cache: &Cache, path: &str| {
            Cached { reading: Reading { web: &web, topic: &topic }, cache }.outcome(&Wanted::Page(UrlId(0)), &url(path))
        };
        let both = read(&one, "/both");
        read(&one, "/one");
        read(&two, "/two");
        assert_eq!(read(&two, "/both"), both);
        drop(one);
        drop(two);
        let whole = fs::metadata(&files(dir.path())[0]).unwrap().len();
        let cache = Cache::open(dir.path(), "web", &topic).unwrap();
        assert_eq!((cache.len(), read(&cache, "/both")), (3, both));
        let state = cache.state();
        let frames = state.index.values().map(|entry| match entry {
            Entry::Kept { length, .. } | Entry::Pending { length, .. } => HEAD as u64 + u64::from(*length),
        });
        assert_eq!(frames.sum::<u64>() + MAGIC.len() as u64, whole, "what both read is stored once");
    }

    #[test]
    fn threads_share_a_cache() {
        let (dir, web, topic) = (tempfile::tempdir().unwrap(), Counting::default(), sports());
        let cache = Cache::open(dir.path(), "web", &topic).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let source = Cached { reading: Reading { web: &web, topic: &topic }, cache: &cache };
                    for n in 0..200 {
                        let got = source.outcome(&Wanted::Page(UrlId(0)), &url(&format!("/{n}")));
                        assert!(matches!(got, Outcome::Page { status: 200, .. }));
                    }
                });
            }
        });
        assert_eq!(cache.len(), 200);
        drop(cache);
        assert_eq!(Cache::open(dir.path(), "web", &topic).unwrap().len(), 200);
    }

    /// What the evidence of a page looks like. Where this fails what a page is read into has changed: raise [`READER`], so
    /// that nobody goes on with old evidence, and write both numbers anew.
    #[test]
    fn the_version_of_the_reader_tells_its_evidence() {
        let (web, topic) = (Counting::default(), sports());
        let read = Reading { web: &web, topic: &topic }.outcome(&Wanted::Page(UrlId(0)), &url("/"));
        let sum = xxh3_64(&postcard::to_stdvec(&read).unwrap());
        assert_eq!((READER, sum), (14, 0xe6e3_914f_309c_ba50), "{sum:#x}");
    }
}
