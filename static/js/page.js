// What every page needs from a script: sentences about failed requests, the inbox badge, and a steady view.
(() => {
  "use strict";
  const words = document.body.dataset;

  // --- toasts -------------------------------------------------------------------------------------------------------

  function toast(text) {
    const box = document.getElementById("toasts");
    if (!box || [...box.children].some((each) => each.dataset.text === text)) return;
    const line = document.createElement("div");
    line.className = "toast";
    line.dataset.text = text;
    const said = document.createElement("span");
    said.textContent = text;
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "×";
    close.setAttribute("aria-label", words.sayClose);
    close.addEventListener("click", () => line.remove());
    line.append(said, close);
    box.append(line);
    setTimeout(() => line.remove(), 12000);
  }

  function handledInPlace(ctx) {
    return ctx.sourceElement?.hasAttribute(`hx-status:${ctx.response.status}`);
  }

  document.addEventListener("htmx:response:error", (event) => {
    const ctx = event.detail.ctx;
    if (handledInPlace(ctx) || ctx.hx?.redirect) return;
    const plain = ctx.response.headers.get("content-type")?.startsWith("text/plain");
    toast(plain && ctx.text ? ctx.text : words.sayFailed);
  });

  document.addEventListener("htmx:error", (event) => {
    if (event.detail.ctx) toast(words.sayOffline);
  });

  // --- swaps --------------------------------------------------------------------------------------------------------

  // The socket and the answer to a form may both bring the same run: whoever comes second updates it.
  document.addEventListener("htmx:before:swap", (event) => {
    for (const task of event.detail.tasks ?? []) {
      const fresh = task.fragment?.firstElementChild;
      if (task.swapSpec?.style !== "beforeend" || !fresh?.id) continue;
      const known = document.getElementById(fresh.id);
      document.getElementById("empty-log")?.remove();
      if (known) {
        task.target = known;
        task.swapSpec = { ...task.swapSpec, style: "outerMorph" };
      }
    }
  });

  // Older messages come in above, or newer ones below: what is being read must not move.
  let anchor = null;
  document.addEventListener("htmx:before:swap", (event) => {
    if (event.detail.ctx?.sourceElement?.id !== "older") return;
    const run = document.querySelector("#log > .run");
    anchor = run && { run, top: run.getBoundingClientRect().top };
  });
  document.addEventListener("htmx:after:swap", () => {
    if (!anchor) return;
    window.scrollBy(0, anchor.run.getBoundingClientRect().top - anchor.top);
    anchor = null;
  });

  // A link to a part of a conversation that is on the page already leads there without a request.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href*="?at="]');
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link.pathname !== location.pathname || !document.getElementById(link.hash.slice(1))) return;
    event.preventDefault();
    location.hash = link.hash;
    unfold();
  });

  // What a link leads to may stand among folded steps.
  function unfold() {
    const place = document.getElementById(location.hash.slice(1));
    const steps = place?.closest("details.steps:not([open])");
    if (!steps) return;
    steps.open = true;
    place.scrollIntoView();
  }
  window.addEventListener("hashchange", unfold);
  unfold();

  // --- times --------------------------------------------------------------------------------------------------------

  // The server writes UTC; people read the time where they are.
  const inZone = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  function localTimes(root) {
    for (const time of root.querySelectorAll("time[data-local]")) {
      time.textContent = inZone.format(new Date(time.dateTime));
      time.removeAttribute("data-local");
    }
  }
  localTimes(document);
  document.addEventListener("htmx:after:process", (event) => localTimes(event.target));

  // How long ago something was seen: it goes on while the page stays open.
  const inWords = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto" });
  setInterval(() => {
    for (const time of document.querySelectorAll("time[data-age]")) {
      const minutes = Math.floor((Date.now() - new Date(time.dateTime)) / 60000);
      if (minutes > 0) time.textContent = minutes < 60 ? inWords.format(-minutes, "minute") : inWords.format(-Math.round(minutes / 60), "hour");
    }
  }, 30000);

  // --- searching ----------------------------------------------------------------------------------------------------

  // What an input method has not settled yet is not searched for.
  document.addEventListener("input", (event) => {
    if (event.isComposing && event.target.type === "search") event.stopImmediatePropagation();
  }, true);
  document.addEventListener("compositionend", (event) => {
    if (event.target.type === "search") event.target.dispatchEvent(new Event("input", { bubbles: true }));
  });

  // --- copying ------------------------------------------------------------------------------------------------------

  // A selection is copied with its looks and as plain text, also where a page may not use the clipboard by itself.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const chosen = getSelection();
    chosen.selectAllChildren(button.closest("article").querySelector(".body"));
    const copied = document.execCommand("copy");
    chosen.removeAllRanges();
    if (!copied) return toast(words.sayFailed);
    const label = button.querySelector("span");
    const usual = label.textContent;
    label.textContent = document.getElementById("live-status").textContent = button.dataset.copy;
    setTimeout(() => (label.textContent = usual), 2000);
  });

  // --- small things -------------------------------------------------------------------------------------------------

  // A form that may be sent once: its buttons go off after the first click, and on again when the page comes back.
  document.addEventListener("submit", (event) => {
    if (!event.target.hasAttribute("data-once")) return;
    setTimeout(() => event.target.querySelectorAll("button").forEach((button) => (button.disabled = true)));
  });
  window.addEventListener("pageshow", () => {
    document.querySelectorAll("form[data-once] button").forEach((button) => (button.disabled = false));
  });

  // An open menu closes with Escape and with a click elsewhere.
  function closeMenus(except) {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(except)) menu.open = false;
  }
  document.addEventListener("click", (event) => closeMenus(event.target));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    const menu = document.activeElement?.closest("details.menu[open]");
    closeMenus(null);
    menu?.querySelector("summary").focus();
  });

  // Alt+Shift+A leads to the newest call that waits for a decision.
  document.addEventListener("keydown", (event) => {
    if (!event.altKey || !event.shiftKey || event.code !== "KeyA") return;
    const waiting = [...document.querySelectorAll(".approval.pending")].pop();
    if (!waiting) return;
    event.preventDefault();
    waiting.scrollIntoView({ block: "center" });
    waiting.focus({ preventScroll: true });
  });
})();
