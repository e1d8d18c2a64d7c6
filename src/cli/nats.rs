//! The flag of the server of a distributed crawl.

use clap::Args;

/// The server of a cluster.
#[derive(Args, Clone, Debug)]
pub struct NatsArgs {
    /// URLs of NATS servers, separated by commas, or a context file of the nats command (.json) with login and
    /// certificates
    #[arg(
        long,
        value_name = "URL",
        env = "NATS_URL",
        hide_env_values = true,
        default_value = "nats://127.0.0.1:4222",
        help_heading = "Input"
    )]
    pub nats: String,
}
