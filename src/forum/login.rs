//! Whether a page is a login form.
use super::Tree;
/// Whether it is.
#[must_use]
pub fn asks_login(_tree: &Tree) -> bool {
    false
}
