//! Sitemaps that date their pages, by how truthful those who keep them are.

use super::pages::Pages;
use crate::world::draw::Draw;

/// Salt of [`Draw`].
const NOTICED: u64 = 0x6672_0005;
const TOUCHED: u64 = 0x6672_0006;

/// Who writes a host's sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeper {
    /// A page's date is that of its last change.
    Truthful,
    /// Half of the changes are noticed, and on every twentieth day a page is dated anew for nothing.
    Careless,
    /// All pages are dated now, always.
    Now,
    /// Dates stay what they were.
    Never,
}

impl Keeper {
    /// Six in ten are truthful.
    pub fn drawn(draw: &mut Draw) -> Self {
        match draw.below(20) {
            0..=11 => Self::Truthful,
            12..=14 => Self::Careless,
            15..=17 => Self::Now,
            _ => Self::Never,
        }
    }
}

impl Pages {
    /// The date of a page in its host's sitemap; day 0 if it never changed.
    pub(super) fn dated(&self, page: usize, now: f64) -> f64 {
        let so_far = |changes: &[f64]| changes.partition_point(|at| *at <= now);
        let changes = self.changes(page);
        let chance = |salt, nth: u64, p| Draw::new(self.seed ^ page as u64, salt, nth).chance(p);
        match self.keepers[self.pages[page].host as usize] {
            None | Some(Keeper::Never) => 0.0,
            Some(Keeper::Now) => now,
            Some(Keeper::Truthful) => changes[..so_far(changes)].last().copied().unwrap_or(0.0),
            Some(Keeper::Careless) => {
                let noticed = (0..so_far(changes)).rev().find(|nth| chance(NOTICED, *nth as u64, 0.5));
                let touched = (1..=now as u64).rev().find(|day| chance(TOUCHED, *day, 0.05));
                noticed.map_or(0.0, |nth| changes[nth]).max(touched.unwrap_or(0) as f64)
            }
        }
    }
}
