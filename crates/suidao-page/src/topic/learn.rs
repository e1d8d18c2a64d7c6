//! Learns a lexicon from sample pages (Jiang, Zhu, Wang 2020) or from keywords alone.

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use strum::{EnumMessage, IntoStaticStr, VariantArray};
use thiserror::Error;

use super::link_web::LinkWeb;
use super::near_terms::near_terms;
use super::sample::rejections;
use super::term_weights::{LARGEST_LIFT, Ranked, TERM, weigh};
use super::thresholds::{self, ChosenThresholds, Part};
use super::{
    BOUNDARY_RELEVANCE, Background, Lexicon, LinearModel, LinkEvidence, Provenance, Rejection, RemovedEvidence,
    RemovedTerms, Sample, Weights,
};
use super::{linear, url_tokens};

/// Maximum number of near terms.
const MAX_NEAR: usize = 50;

/// How a lexicon is learnt, and pages are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Method {
    /// Linear support vector machines over the words of texts and tags
    #[default]
    Linear,
    /// √TextRank × IDF × ln(lift over the background), and eq. (1)
    Lift,
    /// TextRank alone, and eq. (1) (Jiang, Zhu, Wang 2020)
    TextRank,
}

impl Method {
    /// Number of terms to keep by default. A linear judge needs many.
    pub fn default_terms(self) -> usize {
        if self == Self::Linear { 1_000 } else { 100 }
    }
}

#[derive(Clone, Debug)]
pub struct LearnOptions {
    pub name: String,
    /// Today, for the file.
    pub date: String,
    /// Origin of the samples, for the file.
    pub sources: Vec<String>,
    pub method: Method,
    /// Keywords in addition to the samples, each with its weight; for [`Method::Linear`].
    pub keywords: Vec<(String, f64)>,
    /// Terms that the user deleted from an earlier lexicon; for [`Method::Linear`].
    pub removed: RemovedTerms,
    /// URL tokens and near terms that the user deleted from an earlier lexicon.
    pub removed_evidence: RemovedEvidence,
    /// Further pages that lead to samples or to the background, for URL tokens and near terms alone.
    pub linking: Vec<Sample>,
    /// M, the number of terms; half as many near terms, at most 50.
    pub terms: usize,
}

impl LearnOptions {
    /// The default number of terms; no date, sources, keywords, deleted terms or further pages.
    pub fn new(name: &str, method: Method) -> Self {
        Self {
            name: name.to_owned(),
            date: String::new(),
            sources: Vec::new(),
            method,
            keywords: Vec::new(),
            removed: RemovedTerms::default(),
            removed_evidence: RemovedEvidence::default(),
            linking: Vec::new(),
            terms: method.default_terms(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LearnError {
    /// No sample is usable.
    #[error("none of the {samples} sample pages is usable ({reasons}); give other pages")]
    NoSamples {
        samples: usize,
        /// Why they were rejected.
        reasons: String,
    },
    /// Too few documents of a crawl have the keywords, or lack them.
    #[error(
        "{with} documents of the crawl have enough of the keywords, and {without} do not; {needed} of each are needed, so \
         crawl more pages, or choose other keywords"
    )]
    TooFewDocuments { with: usize, without: usize, needed: usize },
    /// No word distinguishes the samples from the background.
    #[error("no word is clearly more frequent in the samples than in other pages; give more pages on one topic")]
    NoTerms,
    /// No keyword is left after folding.
    #[error("the list contains no keyword; write one per line, with an optional weight after a tab")]
    NoKeywords,
}

#[derive(Clone, Debug)]
pub struct Learnt {
    pub lexicon: Lexicon,
    /// Number of rejected samples by reason.
    pub rejected: Vec<(Rejection, usize)>,
}

/// Learns a lexicon from sample pages of one topic.
///
/// # Errors
/// [`LearnError`] if there is no usable page or no term.
pub fn learn(samples: &[Sample], background: &Background, options: &LearnOptions) -> Result<Learnt, LearnError> {
    learn_lowered(samples, background, options, None)
}

/// As [`learn`]; with `below`, the page threshold of [`Method::Linear`] is that far below the boundary
/// ([`linear::TrainingSet::learn_below`]).
pub(super) fn learn_lowered(
    samples: &[Sample],
    background: &Background,
    options: &LearnOptions,
    below: Option<f64>,
) -> Result<Learnt, LearnError> {
    let verdicts = rejections(samples, options.method != Method::Linear);
    let mut rejected: Vec<(Rejection, usize)> = Vec::new();
    let mut reasons: Vec<Rejection> = verdicts.iter().copied().flatten().collect();
    reasons.sort_unstable();
    for reason in reasons {
        match rejected.last_mut() {
            Some((last, count)) if *last == reason => *count += 1,
            _ => rejected.push((reason, 1)),
        }
    }
    let fit: Vec<&Sample> =
        samples.iter().zip(&verdicts).filter(|(_, verdict)| verdict.is_none()).map(|(sample, _)| sample).collect();
    if fit.is_empty() {
        let reasons: Vec<String> =
            rejected.iter().map(|(reason, count)| format!("{count}: {}", reason.why())).collect();
        let reasons = if reasons.is_empty() { "no samples".to_owned() } else { reasons.join("; ") };
        return Err(LearnError::NoSamples { samples: samples.len(), reasons });
    }
    let (mut lexicon, mut parts) = match options.method {
        Method::Linear => linear_lexicon(&fit, background, options, below),
        Method::Lift | Method::TextRank => weighted_lexicon(&fit, background, options),
    }
    .ok_or(LearnError::NoTerms)?;
    let web = LinkWeb::new(&fit, samples.iter().chain(background.samples()).chain(&options.linking));
    add_link_evidence(&mut lexicon, &web, options);
    for part in &mut parts {
        // Their tokens have no weights, so a part has those that all samples and others give.
        part.lexicon.url.clone_from(&lexicon.url);
        part.lexicon.near.clone_from(&lexicon.near);
    }
    ChosenThresholds { page: lexicon.page, link: lexicon.link } = thresholds::choose(&fit, background, &lexicon, parts);
    let hosts: FxHashSet<&str> = fit.iter().map(|sample| sample.host.as_str()).collect();
    lexicon.provenance = Provenance {
        method: lexicon.provenance.method,
        date: options.date.clone(),
        pages: fit.len() as u32,
        hosts: hosts.len() as u32,
        sources: options.sources.clone(),
    };
    let linear = lexicon.linear.iter().flat_map(|linear| &linear.tags);
    let terms = lexicon.terms.iter().chain(&lexicon.near).chain(linear).map(|(term, _)| term.as_str());
    lexicon.background = match options.method {
        Method::Linear => background.with_built_in().for_terms(terms),
        Method::Lift | Method::TextRank => background.for_terms(terms),
    };
    lexicon.order();
    Ok(Learnt { lexicon, rejected })
}

/// A lexicon of keywords: the given weights (default 1) times IDF.
///
/// # Errors
/// [`LearnError::NoKeywords`] if none contains a word.
pub fn learn_from_keywords(
    keywords: &[(String, Option<f64>)],
    background: &Background,
    options: &LearnOptions,
) -> Result<Lexicon, LearnError> {
    let mut terms: Vec<(String, f64)> = Vec::new();
    for (keyword, weight) in keywords {
        let Some(df) = thresholds::keyword_df(keyword, background) else { continue };
        let idf = (1.0 + f64::from(background.pages()) / (1.0 + f64::from(df))).ln();
        terms.push((keyword.clone(), weight.unwrap_or(1.0) * idf));
    }
    let highest = terms.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
    if highest <= 0.0 {
        return Err(LearnError::NoKeywords);
    }
    for (_, weight) in &mut terms {
        *weight /= highest;
    }
    terms.retain(|(_, weight)| *weight > 0.0);
    let mut lexicon = Lexicon::from_terms(&options.name, &[]);
    lexicon.background = background.for_terms(terms.iter().map(|(term, _)| term.as_str()));
    lexicon.terms = terms;
    lexicon.weights.stem = true;
    // Without samples: what no other page has.
    let web = LinkWeb::new(&[], background.samples().iter());
    add_link_evidence(&mut lexicon, &web, options);
    lexicon.provenance = Provenance {
        method: "given keywords, weighted by IDF".to_owned(),
        date: options.date.clone(),
        pages: 0,
        hosts: 0,
        sources: options.sources.clone(),
    };
    ChosenThresholds { page: lexicon.page, link: lexicon.link } = thresholds::of_keywords(&lexicon, background);
    lexicon.order();
    Ok(lexicon)
}

/// URL tokens and near terms, with their evidence.
fn add_link_evidence(lexicon: &mut Lexicon, web: &LinkWeb<'_>, options: &LearnOptions) {
    let removed = &options.removed_evidence;
    let url = url_tokens::propose(lexicon, web, &removed.url);
    lexicon.url = url.keys().cloned().collect();
    let (terms, near) = near_terms(lexicon, web, (options.terms / 2).min(MAX_NEAR), &removed.near);
    lexicon.near = terms;
    lexicon.evidence = LinkEvidence { url, near, removed: removed.clone() };
}

/// A lexicon of weighted terms, and those of parts of the samples.
fn weighted_lexicon(fit: &[&Sample], background: &Background, options: &LearnOptions) -> Option<(Lexicon, Vec<Part>)> {
    let ranked: Vec<Ranked> = fit.par_iter().map(|sample| Ranked::new(sample)).collect();
    let all: Vec<usize> = (0..fit.len()).collect();
    let learn_from = |part: &[usize]| part_lexicon(part, &ranked, background, options);
    let mut lexicon = learn_from(&all)?;
    lexicon.provenance.method = if options.method == Method::TextRank {
        "TextRank".to_owned()
    } else {
        format!(
            "sqrt(TextRank) x IDF x ln(lift) against a background of {} pages, lift from {} to {LARGEST_LIFT}",
            background.pages(),
            TERM.lift
        )
    };
    Some((lexicon, thresholds::parts(fit, learn_from)))
}

/// A lexicon with a linear judge and its page threshold, and those of parts of the samples.
fn linear_lexicon(
    fit: &[&Sample],
    background: &Background,
    options: &LearnOptions,
    below: Option<f64>,
) -> Option<(Lexicon, Vec<Part>)> {
    let set = linear::TrainingSet::new(fit, background, &options.keywords, &options.removed, options.terms);
    let lexicon = |weights: linear::TrainedWeights| {
        let mut lexicon = Lexicon::from_terms(&options.name, &[]);
        let words = [&weights.terms, &weights.tags].into_iter().flatten();
        lexicon.background = set.counts.for_terms(words.map(|(term, _)| term.as_str()));
        lexicon.terms = weights.terms;
        lexicon.linear = Some(LinearModel {
            boundary: weights.boundary,
            boundary_relevance: BOUNDARY_RELEVANCE,
            median: weights.median,
            tags: weights.tags,
            removed: options.removed.clone(),
        });
        lexicon.order();
        lexicon
    };
    let (weights, page) = match below {
        Some(below) => set.learn_below(below)?,
        None => set.learn_and_measure()?,
    };
    let mut whole = lexicon(weights);
    whole.page = page;
    whole.provenance.method = set.method();
    Some((whole, thresholds::parts(fit, |part| Some(lexicon(set.learn(part)?)))))
}

/// The lexicon of a subset of the samples, without thresholds and link evidence.
fn part_lexicon(part: &[usize], ranked: &[Ranked], background: &Background, options: &LearnOptions) -> Option<Lexicon> {
    let pages: Vec<&Ranked> = part.iter().map(|&index| &ranked[index]).collect();
    let terms =
        weigh(&pages, background, options.method == Method::TextRank, options.terms, &TERM, &FxHashSet::default());
    if terms.is_empty() {
        return None;
    }
    let mut lexicon = Lexicon::from_terms(&options.name, &[]);
    lexicon.weights = Weights::default();
    lexicon.background = background.for_terms(terms.iter().map(|(term, _)| term.as_str()));
    lexicon.terms = terms;
    Some(lexicon)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CrawlUrl;

    fn options() -> LearnOptions {
        LearnOptions {
            date: "2026-01-02".to_owned(),
            sources: vec!["pages".to_owned()],
            ..LearnOptions::new("体育", Method::Lift)
        }
    }

    fn texts(host: &str, texts: &[&str]) -> Vec<Sample> {
        let sample = |(index, text): (usize, &&str)| Sample::from_text(&format!("{host}/{index}.txt"), host, text);
        texts.iter().enumerate().map(sample).collect()
    }

    fn sports() -> Vec<Sample> {
        let mut samples = texts(
            "a.cn",
            &[
                "足球比赛昨晚结束，球迷为足球队的进球欢呼，独家策划提供数据",
                "篮球联赛的比赛里球迷看到进球，足球教练也在场，独家策划提供数据",
                "球迷谈足球与篮球，比赛数据由独家策划提供",
            ],
        );
        samples.extend(texts("b.cn", &["足球比赛的进球数据", "篮球比赛吸引球迷", "球迷与足球"]));
        samples
    }

    fn background() -> Background {
        let mut samples = Vec::new();
        for host in ["c.cn", "d.cn", "e.cn", "f.cn"] {
            samples.extend(texts(host, &["数据结构与算法", "数据库里的数据", "电影里的音乐", "旅行见到的数据和音乐"]));
        }
        Background::from_samples(samples)
    }

    #[test]
    fn terms_of_the_topic_are_learnt_and_terms_of_one_host_are_not() {
        let Learnt { lexicon, rejected } = learn(&sports(), &background(), &options()).unwrap();
        let weight =
            |term: &str| lexicon.terms.iter().find(|(known, _)| known == term).map_or(0.0, |(_, weight)| *weight);
        assert_eq!(lexicon.terms[0].1, 1.0);
        for term in ["足球", "球迷", "进球"] {
            assert!(weight(term) > 0.2, "{term} in {:?}", lexicon.terms);
        }
        assert_eq!(weight("数据"), 0.0, "as frequent in the background");
        assert_eq!(weight("独家"), 0.0, "on one host only");
        assert!(rejected.is_empty());
        assert_eq!((lexicon.provenance.pages, lexicon.provenance.hosts), (6, 2));
        assert!(lexicon.page.precision.is_some() && lexicon.page.recall.is_some());
        assert_eq!(Lexicon::parse(&lexicon.to_toml()).unwrap(), lexicon);
        assert_eq!(learn(&sports(), &background(), &options()).unwrap().lexicon.digest(), lexicon.digest());
    }

    #[test]
    fn plain_textrank_keeps_the_words_of_every_text() {
        let plain = LearnOptions { method: Method::TextRank, ..options() };
        let lexicon = learn(&sports(), &background(), &plain).unwrap().lexicon;
        assert!(lexicon.terms.iter().any(|(term, _)| term == "数据"));
    }

    #[test]
    fn without_background_pages_the_threshold_states_what_is_unknown() {
        let lexicon = learn(&sports(), &Background::built_in(), &options()).unwrap().lexicon;
        assert!(lexicon.page.precision.is_some() && lexicon.page.chosen.contains("expect less"));
        assert!(lexicon.page.recall.unwrap() > 0.5 && lexicon.page.chosen.contains("--background"));
    }

    #[test]
    fn samples_without_terms_are_an_error() {
        assert!(matches!(learn(&[], &background(), &options()), Err(LearnError::NoSamples { samples: 0, .. })));
        let empty = texts("a.cn", &["", " "]);
        let error = learn(&empty, &background(), &options()).unwrap_err().to_string();
        assert!(error.contains("2: no text besides boilerplate"), "{error}");
        assert_eq!(learn(&texts("a.cn", &["我们的"]), &background(), &options()).unwrap_err(), LearnError::NoTerms);
    }

    #[test]
    fn key_words_weigh_by_rarity_and_by_the_given_weight() {
        let keyword = |word: &str, weight| (word.to_owned(), weight);
        let given = [keyword("足球", None), keyword("学习", None), keyword("世界杯", Some(3.0)), keyword("！", None)];
        let lexicon = learn_from_keywords(&given, &Background::built_in(), &options()).unwrap();
        let terms: Vec<&str> = lexicon.terms.iter().map(|(term, _)| term.as_str()).collect();
        assert_eq!(terms, ["世界杯", "足球", "学习"]);
        assert_eq!((lexicon.page.precision, lexicon.page.recall), (None, None));
        assert!(lexicon.page.value > 0.0 && lexicon.page.chosen.contains("without sample pages"));
        assert_eq!(learn_from_keywords(&given[3..], &background(), &options()), Err(LearnError::NoKeywords));
    }

    #[test]
    fn near_terms_and_url_tokens_come_from_the_links_and_addresses() {
        use crate::model::Fetched;
        let page =
            |url: String, body: String| Sample::from_fetched(&Fetched::html(CrawlUrl::parse(&url).unwrap(), body));
        let (mut samples, mut others) = (Vec::new(), Vec::new());
        for host in 0..4 {
            for number in 0..3 {
                let topic = format!("http://h{host}.cn/sports/{number}");
                samples.push(page(
                    topic.clone(),
                    format!(
                        "<title>足球比赛</title><p>昨晚的足球比赛里球迷看到三个进球，篮球比赛也有不少进球，球迷都很高兴。h{host}n{number}</p>"
                    ),
                ));
                others.push(page(
                    format!("http://h{host}.cn/school/{number}"),
                    format!("<title>大学和校园</title><p>这所大学的学生和老师住在校园里，校园很大，学生很多。<a href='{topic}'>消息</a></p>"),
                ));
                others.push(page(
                    format!("http://h{host}.cn/film/{number}"),
                    "<title>电影演员</title><p>电影院里放着音乐，演员唱着歌曲，导演坐在旁边看着演员。</p>".repeat(2),
                ));
                others.push(page(
                    format!("http://h{host}.cn/code/{number}"),
                    "<p>程序员写着代码，编译器报告错误，程序员改正代码里的错误。</p>".to_owned(),
                ));
                others.push(page(
                    format!("http://h{host}.cn/food/{number}"),
                    "<p>厨师做着饭菜，客人喝着绿茶。</p>".to_owned(),
                ));
            }
        }
        let background = Background::from_samples(others);
        let lexicon = learn(&samples, &background, &options()).unwrap().lexicon;
        assert!(
            lexicon.url.contains(&"sports".to_owned()) && !lexicon.url.contains(&"film".to_owned()),
            "{:?}",
            lexicon.url
        );
        let why = &lexicon.evidence;
        assert!(
            why.url["sports"].contains("12 URLs on 4 hosts") && why.url["tiyu"].contains("体育 in pinyin"),
            "{why:?}"
        );
        let near: Vec<&str> = lexicon.near.iter().map(|(term, _)| term.as_str()).collect();
        assert!(near.contains(&"大学") && near.contains(&"校园"), "{near:?}");
        assert!(!near.contains(&"演员") && !near.contains(&"足球"), "{near:?}");
        assert!(why.near["大学"].contains("4 hosts"), "{why:?}");
        assert_eq!(Lexicon::parse(&lexicon.to_toml()).unwrap(), lexicon);
        let edited = lexicon
            .to_toml()
            .lines()
            .filter(|line| !line.starts_with("\"sports\" = \"") && !line.starts_with("\"大学\" = {"))
            .collect::<Vec<_>>()
            .join("\n");
        let removed_evidence = Lexicon::parse(&edited).unwrap().evidence.removed;
        let again = LearnOptions { removed_evidence, ..options() };
        let again = learn(&samples, &background, &again).unwrap().lexicon;
        let near: Vec<&str> = again.near.iter().map(|(term, _)| term.as_str()).collect();
        assert!(!again.url.contains(&"sports".to_owned()) && again.url.contains(&"tiyu".to_owned()), "{:?}", again.url);
        assert!(!near.contains(&"大学") && near.contains(&"校园"), "{near:?}");
        assert_eq!(Lexicon::parse(&again.to_toml()).unwrap(), again, "what was deleted is known later too");
    }
}
