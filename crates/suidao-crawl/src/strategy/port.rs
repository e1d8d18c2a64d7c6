//! Ports of services other than the web. A page can make a crawler send chosen lines to such a port, and a mail, chat
//! or database server may take them for commands (cross-protocol attack).

/// Blocked ports, sorted: those of the Fetch standard ("bad ports", <https://fetch.spec.whatwg.org/#port-blocking>),
/// which browsers block too, and those of databases and caches, which the standard omits: `ZooKeeper` (2181), `MySQL`
/// (3306), `PostgreSQL` (5432), Redis (6379), memcached (11211) and `MongoDB` (27017). Redis and memcached parse lines,
/// and none of the six answers in HTTP.
const FOREIGN: [u16; 89] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 2181, 3306, 3659, 4045,
    4190, 5060, 5061, 5432, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211, 27017,
];

pub fn is_non_web_port(port: u16) -> bool {
    FOREIGN.binary_search(&port).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_browsers_refuse_is_refused_and_the_webs_own_ports_are_not() {
        assert!(FOREIGN.is_sorted());
        for port in [0, 21, 22, 25, 53, 110, 143, 465, 993, 2049, 5060, 6000, 6379, 6667, 6697, 10080, 11211, 27017] {
            assert!(is_non_web_port(port), "{port}");
        }
        for port in [80, 81, 443, 591, 2375, 3000, 5000, 6001, 7001, 8000, 8080, 8088, 8443, 9000, 9200, 32_768, 65_535]
        {
            assert!(!is_non_web_port(port), "{port}");
        }
    }
}
