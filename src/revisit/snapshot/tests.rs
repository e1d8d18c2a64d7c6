//! The methods against one another and against brute force.

use super::*;

#[test]
fn degenerate_requests_are_answered() {
    let methods =
        [Method::Exhaustive, Method::Miqp, Method::Dynamic { freshness: 0.0 }, Method::Uniform, Method::Random];
    let month = series::tests::contiguous(&[3, 0, 2, 1], 2);
    for method in methods {
        assert_eq!(plan(&[], 3, method, 1), [0; 0]);
        assert_eq!(plan(&[Series::default()], 3, method, 1), [0; 0]);
        assert_eq!(plan(&[month.clone()], 0, method, 1), [0; 0]);
        assert_eq!(plan(&[month.clone()], 9, method, 1), [0, 1, 2, 3]);
        assert_eq!(plan(&[month.clone()], 2, method, 1).len(), 2);
    }
}
