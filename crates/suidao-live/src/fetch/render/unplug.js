// Ways around the pages' own requests that a crawler has no use for. They lead nowhere in any case, for the browser has no
// network; where they are not there at all, pages do not wait for them.
for (const name of [
  "WebSocket", "WebTransport", "RTCPeerConnection", "webkitRTCPeerConnection", "EventSource", "SharedWorker",
]) {
  try { delete globalThis[name]; } catch { /* it stays, and leads nowhere */ }
}
try { delete Navigator.prototype.serviceWorker; } catch { /* likewise */ }
try { Object.defineProperty(globalThis, "open", { value: () => null }); } catch { /* likewise */ }
