//! One crawl on several machines. Registrable domains are dealt to partitions by a fixed hash
//! ([`Partition`](suidao_crawl::crawl::Partition)), and partitions to workers by [`Assignment`].

mod assignment;

pub use assignment::Assignment;
