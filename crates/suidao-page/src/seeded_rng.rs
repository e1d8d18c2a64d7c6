//! Reproducible random numbers: SplitMix64 (Steele, Lea and Flood 2014), seeded by purpose.

/// A stream of numbers that depends only on (seed, salt, index).
pub struct SeededRng(u64);

/// Increment of the counter.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finalizer of SplitMix64, a bijection of 64 bits.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl SeededRng {
    /// The stream for one purpose (`salt`) and one item (`index`).
    pub fn new(seed: u64, salt: u64, index: u64) -> Self {
        Self(mix(mix(seed ^ STEP).wrapping_add(salt)).wrapping_add(mix(index.wrapping_add(1))))
    }

    /// The unsalted stream from its `at`-th number on, so that a resumed crawl continues the same draws.
    pub fn at(at: u64) -> Self {
        Self(at.wrapping_mul(STEP))
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A number in `0..end`; 0 if `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.bits()) * u128::from(end);
        (wide >> 64) as u64
    }

    /// A number in `range[0]..=range[1]`; `range[0]` if the range is empty.
    pub fn within(&mut self, range: [u64; 2]) -> u64 {
        range[0] + self.below(range[1].saturating_sub(range[0]) + 1)
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// A number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn uniform(&mut self, [least, most]: [f64; 2]) -> f64 {
        least + (most - least) * self.unit()
    }

    /// Log-uniform between two numbers.
    pub fn log_uniform(&mut self, [least, most]: [f64; 2]) -> f64 {
        least * (most / least).powf(self.unit())
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Poisson, by counting arrivals of unit rate (Knuth 1969); linear in the mean.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        let (mut count, mut passed) = (0, self.exponential());
        while passed < mean {
            count += 1;
            passed += self.exponential();
        }
        count
    }

    /// `items` must not be empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}
