// What a page shows, as HTML: shadow trees where they show, without the scripts and what is there only for browsers
// that have none. Built in a document without a browsing context, so that nothing of the page runs while it is copied.
((url, left, most) => {
  const MOST_NODES = 300000;
  // The page did not get there: this is a blank page, or the browser's own of what went wrong.
  if (!/^https?:/.test(document.URL) || !document.documentElement) return "";
  const copy = document.implementation.createHTMLDocument("");
  const isLeftOut = (node) => {
    if (node.localName === "script") return !/json/i.test(node.type || "");
    if (node.localName === "meta") {
      return node.hasAttribute("charset") || /^content-type$/i.test(node.getAttribute("http-equiv") || "");
    }
    return node.localName === "noscript" || node.localName === "style" || node.localName === "template";
  };
  const children = (node) => {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    if (node.localName === "slot" && node.assignedNodes) {
      const assigned = node.assignedNodes();
      if (assigned.length) return assigned;
    }
    return node.childNodes;
  };
  const root = copy.importNode(document.documentElement, false);
  const stack = [[document.documentElement, root]];
  let nodes = 0;
  while (stack.length) {
    const [from, to] = stack.pop();
    for (const child of children(from)) {
      if (nodes++ > MOST_NODES) return null;
      if (child.nodeType === Node.TEXT_NODE || child.nodeType === Node.CDATA_SECTION_NODE) {
        to.appendChild(copy.createTextNode(child.data));
      } else if (child.nodeType === Node.ELEMENT_NODE && !isLeftOut(child)) {
        const copied = to.appendChild(copy.importNode(child, false));
        stack.push([child, copied]);
      }
    }
  }
  let head = [...root.children].find((child) => child.localName === "head");
  if (!head) {
    head = copy.createElement("head");
    root.prepend(head);
  }
  const put = (name, fields) => {
    const element = copy.createElement(name);
    for (const [field, value] of Object.entries(fields)) element.setAttribute(field, value);
    head.prepend(element);
  };
  if (left) put("meta", { "http-equiv": "refresh", content: "0;url=" + left });
  const own = document.baseURI.split("#")[0];
  if (own !== url && /^https?:/.test(own) && !document.querySelector("base[href]")) put("base", { href: own });
  put("meta", { charset: "utf-8" });
  const html = "<!DOCTYPE html>\n" + root.outerHTML;
  return html.length > most ? null : html;
})
