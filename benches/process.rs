//! Processor time and memory of this process, for the benches. Linux only, elsewhere 0.

#![allow(dead_code)] // each bench uses its part

use std::fs;

/// Ticks per second in `/proc/PID/stat`: `USER_HZ`, 100 on every Linux in use.
const TICKS: f64 = 100.0;

/// Processor time of all threads so far.
pub fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in brackets may contain spaces; user and system time are the 12th and 13th fields after it.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS
}

pub fn resident() -> u64 {
    memory("VmRSS:")
}

/// Peak memory in bytes.
pub fn most_resident() -> u64 {
    memory("VmHWM:")
}

fn memory(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or_default() * 1024
}

pub fn best_and_median(mut figures: Vec<f64>) -> (f64, f64) {
    figures.sort_by(f64::total_cmp);
    (figures.first().copied().unwrap_or_default(), figures.get(figures.len() / 2).copied().unwrap_or_default())
}
