//! Ctrl-C and termination signals.

/// Resolves at the first Ctrl-C or termination signal. A second one ends the process at once, which loses nothing
/// acknowledged.
pub async fn interrupted() {
    interrupts().await;
    errln!("suidao: stopping after the requests in flight (press Ctrl-C again to stop at once)");
}

/// As [`interrupted`] but silent, and listening from the call on, not from the first poll, for verbs that announce that
/// they are ready. Must be called within a runtime.
pub fn interrupts() -> impl Future<Output = ()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let listening = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
        async move {
            // If signals cannot be received, the default action remains.
            let (Ok(mut interrupt), Ok(mut terminate)) = listening else { return std::future::pending().await };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            tokio::spawn(async move {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                std::process::exit(130);
            });
        }
    }
    #[cfg(not(unix))]
    async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
