//! What the system says of this process: processor time and memory. Shared by the benches; Linux only, elsewhere 0.

#![allow(dead_code)] // each bench uses its part

use std::fs;

/// Ticks of `/proc/PID/stat` in a second: `USER_HZ`, 100 on every Linux that is in use.
const TICKS: f64 = 100.0;

/// Processor time of this process and all its threads so far, in seconds.
pub fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in brackets may hold spaces; user and system time are the 12th and 13th fields behind it.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS
}

/// Memory in use, in bytes.
pub fn resident() -> u64 {
    memory("VmRSS:")
}

/// The most memory that was ever in use, in bytes.
pub fn most_resident() -> u64 {
    memory("VmHWM:")
}

fn memory(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or_default() * 1024
}

/// Least and middle of some figures.
pub fn best_and_median(mut figures: Vec<f64>) -> (f64, f64) {
    figures.sort_by(f64::total_cmp);
    (figures.first().copied().unwrap_or_default(), figures.get(figures.len() / 2).copied().unwrap_or_default())
}
