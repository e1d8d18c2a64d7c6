//! Blog features: front page and archive with posts of all tags, a tag directory, a tag cloud on every page, tags on
//! posts; and blogrolls, which other hosts may have too.

use super::address::{PER_ARCHIVE, PER_FRONT};
use super::layout::Layout;
use super::links::{LinkText, PlannedLink, TemplateBlock, plain};
use super::target::{AuxPage, LinkTarget, PER_LISTING, salt};
use super::write::category_name;
use suidao_page::seeded_rng::SeededRng;

/// Maximum tags in the tag directory.
const INDEX: usize = 200;
/// Anchor texts of links to blogrolls.
const BLOGROLLS: [&str; 5] = ["友情链接", "友链", "友人帐", "朋友们", "Links"];

impl Layout {
    /// Links on every page of a blog: navigation, tag cloud, newest posts.
    pub fn blog_frame(&self, number: u64, out: &mut Vec<PlannedLink>) {
        let host = &self.hosts[number as usize];
        let top = |aux, words| plain(LinkTarget::Aux(number, aux), TemplateBlock::Top, LinkText::Words(words));
        out.push(plain(LinkTarget::Root(number), TemplateBlock::Top, LinkText::Words("首页")));
        out.extend([top(AuxPage::Archive(0), "归档"), top(AuxPage::Tags, "标签")]);
        self.blogroll_link(number, out);
        let tags = host.sections.iter().take(self.spec.tag_cloud as usize);
        out.extend(tags.map(|&tag| self.tag_link(tag as usize, TemplateBlock::Cloud)));
        for position in 0..self.spec.recent_posts.min(host.articles) {
            let post = self.host_article(number, position);
            out.push(plain(LinkTarget::Page(post), TemplateBlock::Side, LinkText::Title(post)));
        }
    }

    /// The link to a host's blogroll, if it has one.
    pub fn blogroll_link(&self, number: u64, out: &mut Vec<PlannedLink>) {
        if self.hosts[number as usize].traits.has_blogroll {
            let words = BLOGROLLS[(number / 5 % BLOGROLLS.len() as u64) as usize];
            out.push(plain(LinkTarget::Aux(number, AuxPage::Blogroll), TemplateBlock::Top, LinkText::Words(words)));
        }
    }

    fn tag_link(&self, section: usize, block: TemplateBlock) -> PlannedLink {
        plain(LinkTarget::Page(self.sections[section].start), block, LinkText::Tag(section))
    }

    fn category_link(&self, host: u64, category: u64, block: TemplateBlock) -> PlannedLink {
        plain(
            LinkTarget::Aux(host, AuxPage::Category(category, 0)),
            block,
            LinkText::Words(category_name(host, category)),
        )
    }

    /// A post's tags, its own first, its category, and the posts before and after it.
    pub fn post_links(&self, section: usize, article: u64, out: &mut Vec<PlannedLink>, rng: &mut SeededRng) {
        out.push(self.tag_link(section, TemplateBlock::Tags));
        let number = self.sections[section].host;
        let host = &self.hosts[number as usize];
        if self.spec.categories > 0 {
            out.push(self.category_link(number, self.category(section), TemplateBlock::Tags));
        }
        for _ in 0..rng.below(3) {
            out.push(self.tag_link(rng.pick(&host.sections) as usize, TemplateBlock::Tags));
        }
        for later in [false, true] {
            let own = &self.sections[section];
            let next = if later { article + 1 } else { article.wrapping_sub(1) };
            let same_tag = self.spec.same_tag_neighbours > 0.0
                && rng.chance(self.spec.same_tag_neighbours)
                && next < own.articles();
            let post = if same_tag { own.article(next) } else { self.host_article(number, rng.below(host.articles)) };
            out.push(plain(LinkTarget::Page(post), TemplateBlock::Pager, LinkText::Title(post)));
        }
    }

    pub fn aux_links(&self, number: u64, aux: AuxPage) -> Vec<PlannedLink> {
        let host = &self.hosts[number as usize];
        let mut out = Vec::with_capacity(48);
        let to = |aux, block, words| plain(LinkTarget::Aux(number, aux), block, LinkText::Words(words));
        if host.traits.blog {
            self.blog_frame(number, &mut out);
        } else {
            out.push(plain(LinkTarget::Root(number), TemplateBlock::Top, LinkText::Words("网站首页")));
        }
        let listed = |at: u64, per: u64| at * per..host.articles.min((at + 1) * per);
        let rng = &mut SeededRng::new(self.spec.seed, salt::AUX, self.aux_number(number, aux));
        match aux {
            AuxPage::Month(at) => out.push(to(AuxPage::Month(at.saturating_add(1)), TemplateBlock::Entry, "下个月")),
            AuxPage::Private(at) => {
                out.push(to(AuxPage::Private(at.saturating_add(1) % 50), TemplateBlock::Entry, "下一页"));
            }
            AuxPage::Front(at) => {
                for position in listed(at, PER_FRONT) {
                    out.push(self.to_article(self.host_article(number, position), TemplateBlock::Entry, rng));
                }
                if (at + 1) * PER_FRONT < host.articles {
                    out.push(to(AuxPage::Front(at + 1), TemplateBlock::Entry, "下一页"));
                }
            }
            AuxPage::Archive(at) => {
                for position in listed(at, PER_ARCHIVE) {
                    let post = self.host_article(number, position);
                    out.push(plain(LinkTarget::Page(post), TemplateBlock::Entry, LinkText::Title(post)));
                }
                if (at + 1) * PER_ARCHIVE < host.articles {
                    out.push(to(AuxPage::Archive(at + 1), TemplateBlock::Entry, "下一页"));
                }
            }
            AuxPage::Category(which, at) => {
                let articles = self.category_articles(number, which);
                for position in at * PER_LISTING..articles.min((at + 1) * PER_LISTING) {
                    let post = self.category_article(number, which, articles, position);
                    out.push(self.to_article(post, TemplateBlock::Entry, rng));
                }
                if (at + 1) * PER_LISTING < articles {
                    out.push(to(AuxPage::Category(which, at + 1), TemplateBlock::Entry, "下一页"));
                }
            }
            AuxPage::Tags => {
                out.extend(
                    (0..self.spec.categories).map(|which| self.category_link(number, which, TemplateBlock::Entry)),
                );
                out.extend(
                    host.sections.iter().take(INDEX).map(|&tag| self.tag_link(tag as usize, TemplateBlock::Entry)),
                );
            }
            AuxPage::Blogroll => {
                for host in self.blogroll_hosts(number) {
                    out.push(plain(LinkTarget::Root(host), TemplateBlock::Entry, LinkText::Site(host)));
                }
            }
        }
        out
    }

    /// The hosts in a blogroll, each once.
    fn blogroll_hosts(&self, number: u64) -> Vec<u64> {
        let rng = &mut SeededRng::new(self.spec.seed, salt::BLOGROLL, number);
        let hosts = self.spec.hosts;
        let mut out = Vec::new();
        for step in 1..=rng.within(self.spec.friends) {
            let friend = if rng.chance(self.spec.rewired) {
                rng.below(hosts)
            } else {
                // Alternately to both sides.
                let side = step.div_ceil(2) % hosts;
                if step % 2 == 1 { (number + side) % hosts } else { (number + hosts - side) % hosts }
            };
            if friend != number && !out.contains(&friend) {
                out.push(friend);
            }
        }
        out
    }
}
