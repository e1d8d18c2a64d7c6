//! Chance for tests: the finaliser of SplitMix64.

/// A repeatable draw in (0, 1).
pub(super) fn draw(at: u64) -> f64 {
    let mut z = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}
