//! `tunnel`, our own strategy: it learns the value of a page as a way to other pages separately from its value as a
//! document (after shark-search, Hersovici et al. 1998; apprentice learners for links, Chakrabarti, Punera, Subramanyam
//! 2002; bandits over groups of links, Meusel, Mika, Blanco 2014; estimates of groups shrunk towards those of larger
//! ones, James, Stein 1961).
//!
//! ```text
//! s(v)      = γ inherited + (1 - γ) (β R_Anchor + (1 - β) context)           the best over the links to v, as shark-search
//! y(p)      = x² / (1 + x²),  x = Sim(p) / (.8 τ_page)                        reward of a fetched document
//! ratio(g)  = (Σ y + prior) / (Σ s + 1)                                       observed over expected, of a set of documents;
//!             the prior of a template is ratio(all documents)^.7
//! document  = s(v) · max over blocks b of ratio(b), shrunk towards ratio(template) · ratio(position in the tag tree)^½
//! listing   = .65 · rewards of its links, shrunk towards documents under its URL, those towards documents under tags with
//!             its word on all hosts, and those towards the promise of its anchors
//! links page = .5 · share of the pages of recommended sites that opened a host; of any template likewise
//! score     = one of these + κ / √(pages of the host + 1);  κ of discovered hosts falls if few had rewards
//! ```
//! Tag and category pages look relevant but are not documents, and one host can starve the others: so listings earn by
//! their targets, and every host gets a bonus for its first pages. k is recorded as in `dth`, but drops nothing.

mod kind;
mod learner;
mod search;
mod settings;
mod sums;

pub(super) use search::TunnelSearch;
pub use settings::TunnelSettings;
