// Approvals on any page: who else is there, decisions made elsewhere, notices of the browser; in the inbox also keys.
(() => {
  "use strict";
  const EACH = 15000, SEEN_FOR = 25000; // milliseconds
  const inbox = document.getElementById("approval-list");
  const pending = () => [...document.querySelectorAll(".approval.pending[id]")];
  const idOf = (approval) => approval.id.replace("approval-", "");
  const kept = (name, value) => {
    try {
      if (value !== undefined) localStorage.setItem(name, value);
      return localStorage.getItem(name);
    } catch {
      return null; // a browser that keeps nothing
    }
  };

  // --- what goes on meanwhile ---------------------------------------------------------------------------------------

  function onScreen(approval) {
    const { top, bottom } = approval.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }

  async function pulse() {
    if (document.hidden) return;
    kept("approvals-seen", Date.now());
    const shown = pending().filter(onScreen).slice(0, 50);
    const token = document.querySelector("[name=csrfmiddlewaretoken]")?.value;
    if (!token || (!shown.length && !inbox)) return;
    const body = new URLSearchParams(shown.map((each) => ["shown", idOf(each)]));
    const at = document.activeElement?.closest(".approval.pending");
    if (at) body.set("at", idOf(at));
    let said;
    try {
      const answer = await fetch("/approvals/pulse", { method: "POST", body, headers: { "X-CSRFToken": token } });
      if (!answer.ok) return;
      said = await answer.json();
    } catch {
      return; // the next one comes soon
    }
    for (const approval of shown) tell(approval, said);
    const news = document.getElementById("inbox-news");
    if (news) news.hidden = said.count <= document.querySelectorAll("#approval-list .pending, #approval-list [data-asks]:not(:has(.pending))").length;
  }

  function tell(approval, said) {
    const id = idOf(approval);
    const [status, digest, votes] = said.states[id] ?? ["", "", ""];
    const card = approval.closest("[hx-trigger*=refresh]");
    // Decided while this was asked, or just now: the answer to the form says more than a refresh would.
    if (!approval.isConnected || !approval.matches(".pending") || card?.querySelector("form.htmx-request")) return;
    const other = card?.dataset.asks && !card.dataset.asks.endsWith(digest);
    const more = votes !== approval.querySelector("[data-said]")?.dataset.said; // somebody has voted or handed it over
    if (card && (status !== "pending" || other || more)) htmx.trigger(card, "refresh");
    const line = approval.querySelector("[data-here]");
    if (!line) return;
    line.textContent = said.here[id] ?? "";
    line.hidden = !line.textContent;
  }

  setInterval(pulse, EACH);
  addEventListener("inbox", pulse);
  document.addEventListener("visibilitychange", pulse);
  document.addEventListener("focusin", (event) => {
    if (event.target.closest?.(".approval.pending .decide") && !event.target.closest(".approval").dataset.told) {
      event.target.closest(".approval").dataset.told = "true"; // others should know soon that someone is at work
      pulse();
    }
  });
  pulse();

  // --- notices of the browser ---------------------------------------------------------------------------------------

  const button = document.getElementById("notify");
  const allowed = () => "Notification" in window && Notification.permission === "granted" && kept("notify") === "on";
  function showButton() {
    if (!button || !("Notification" in window) || Notification.permission === "denied") return;
    button.hidden = false;
    button.setAttribute("aria-pressed", allowed());
    button.querySelector("span").textContent = allowed() ? button.dataset.on : button.dataset.off;
  }
  button?.addEventListener("click", async () => {
    if (allowed()) kept("notify", "off");
    else if ((await Notification.requestPermission()) === "granted") kept("notify", "on");
    showButton();
  });
  showButton();

  let known = null;
  function counted() {
    const words = document.querySelector("[id^=inbox-count].count")?.textContent.trim() ?? "";
    const number = Number.parseInt(words, 10) || 0;
    const more = known !== null && number > known;
    known = number;
    const somebodyLooks = Date.now() - Number(kept("approvals-seen")) < SEEN_FOR; // in whatever tab
    if (!more || !document.hidden || somebodyLooks || !allowed()) return;
    try {
      const notice = new Notification(document.body.dataset.sayWaits, { body: words, tag: "approvals" });
      notice.onclick = () => {
        window.focus();
        location.href = "/approvals/";
      };
    } catch {
      kept("notify", "off"); // phones want a service worker for this
    }
  }
  counted();
  document.addEventListener("htmx:after:swap", counted);

  // --- keys of the inbox --------------------------------------------------------------------------------------------

  if (!inbox) return;
  const help = document.getElementById("inbox-keys");
  const on = document.getElementById("keys-on");
  if (on) {
    on.checked = kept("inbox-keys") !== "off";
    on.addEventListener("change", () => kept("inbox-keys", on.checked ? "on" : "off"));
  }
  const writes = (element) => element.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");

  function move(step) {
    const all = pending();
    if (!all.length) return;
    const here = all.indexOf(document.activeElement?.closest(".approval.pending"));
    const next = all[Math.max(0, Math.min(all.length - 1, here < 0 ? 0 : here + step))];
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  function act(key) {
    const card = document.activeElement?.closest(".approval.pending");
    if (!card) return;
    if (key === "a") card.querySelector("button[value=approve]")?.focus();
    if (key === "m") card.querySelector("a[hx-get*=modify]")?.click();
    if (key !== "r") return;
    const reject = [...card.querySelectorAll("details")].find((each) => each.querySelector("button[value=reject]"));
    if (!reject) return;
    reject.open = true;
    reject.querySelector("textarea").focus();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || writes(event.target)) return;
    if (event.key === "?") return help?.togglePopover();
    if (on && !on.checked) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (step) move(step);
    else if (["a", "m", "r"].includes(event.key)) act(event.key);
    else return;
    event.preventDefault();
  });
})();
