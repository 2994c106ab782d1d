// One frame's changes to the page: streamed text, and cards that are fetched when the frame says that they changed.
import { appendPlain, applyOps, forgetOpen, setPlain } from "./chat-blocks.js";

const FIRST_PAUSE = 1000, LAST_PAUSE = 30000; // milliseconds
const ENDED = new Set(["finished", "rejected", "expired", "cancelled"]); // calls in which nothing works any more
const byId = (id) => document.getElementById(id);

// Who decides and who has agreed may change while someone writes an answer on the same card.
function renewFacts(shown, fresh) {
  shown.dataset.seen = fresh.dataset.seen;
  const facts = fresh.querySelector("[data-facts]");
  if (facts) shown.querySelector("[data-facts]")?.replaceWith(facts);
}

export class Cards {
  constructor(log) {
    this.log = log;
    this.template = byId("message-template");
    this.stale = new Set();
    this.missed = new Map(); // card that could not be fetched → the timer of the next try
    this.tries = new WeakMap();
    this.added = 0;
    for (const name of ["htmx:error", "htmx:response:error"]) log.addEventListener(name, (event) => this.miss(event.detail.ctx));
    log.addEventListener("click", (event) => {
      const details = event.target.closest("summary")?.parentElement;
      if (details) details.dataset.touched = "true";
    });
    // A card never goes back to what it was: the answer to a form may come behind that to a later refresh. One that still
    // asks the same stays as it is when it is refreshed, since someone may be writing the answer.
    log.addEventListener("htmx:before:swap", (event) => {
      this.tries.delete(event.detail.ctx.sourceElement);
      const [task] = event.detail.tasks;
      const shown = task?.target?.dataset?.seen && task.target;
      const fresh = task?.fragment?.firstElementChild;
      if (!shown || fresh?.id !== shown.id) return;
      const refreshed = event.detail.ctx.sourceElement === shown;
      const isOlder = Number(fresh.dataset.seen) < Number(shown.dataset.seen);
      const isAlike = ["asks", "status"].every((name) => shown.dataset[name] === fresh.dataset[name]);
      const asksTheSame = refreshed && shown.dataset.asks && isAlike;
      if (asksTheSame && !isOlder) renewFacts(shown, fresh);
      if (isOlder || asksTheSame) event.preventDefault();
    });
  }

  // The section must be on the page. Throws Hole when text is missing in front of what came.
  show(frame) {
    for (const [kind, id] of frame.cards ?? []) this.changed(frame, kind, id);
    if (frame.snapshot) this.snapshot(frame);
    if (frame.deltas || frame.ops) this.text(frame);
    for (const [call, text, fraction] of frame.progress ?? []) this.progress(call, text, fraction);
  }

  // Fetch what has changed; each once for all frames since the last time. Returns how many things are new.
  settle() {
    for (const card of this.stale) if (card.isConnected) htmx.trigger(card, "refresh");
    this.stale.clear();
    const added = this.added;
    this.added = 0;
    return added;
  }

  // Nobody says again that a card has changed: one that could not be fetched is fetched later.
  miss(ctx) {
    const card = ctx?.sourceElement;
    if (ctx?.request.method !== "GET" || !card.matches("[hx-trigger*=refresh]") || ctx.response?.status < 500) return;
    const tries = this.tries.get(card) ?? 0;
    this.tries.set(card, tries + 1);
    clearTimeout(this.missed.get(card));
    this.missed.set(card, setTimeout(() => this.retry(card), Math.min(LAST_PAUSE, FIRST_PAUSE * 2 ** tries)));
  }

  retry(card) {
    clearTimeout(this.missed.get(card));
    this.missed.delete(card);
    if (card.isConnected) htmx.trigger(card, "refresh");
  }

  // The server is there again.
  recover() {
    for (const card of this.missed.keys()) this.retry(card);
  }

  changed(frame, kind, id) {
    if (kind === "run") return this.refresh(byId(`run-${id}-state`));
    if (kind === "message" && id === frame.message) return this.streaming(frame.run, id);
    const card = byId(`${kind}-${id}`);
    if (card) this.refresh(card);
    else this.insert(frame.run, kind, id);
  }

  refresh(card) {
    if (card) this.stale.add(card);
  }

  insert(run, kind, id) {
    const place = document.createElement(kind === "message" ? "article" : "div"); // the tags that the cards have
    place.id = `${kind}-${id}`;
    for (const [name, value] of [["get", `/cards/${kind}/${id}`], ["trigger", "load, refresh"], ["swap", "outerMorph"]]) {
      place.setAttribute(`hx-${name}`, value);
    }
    this.entries(run).append(place);
    htmx.process(place);
    this.added++;
  }

  entries(run) {
    return byId(`run-${run}`).querySelector(".entries");
  }

  // The article of a message that is being written; a new one in the viewer's language if there is none.
  streaming(run, id) {
    const known = byId(`message-${id}`);
    if (known) return known;
    const article = this.template.content.firstElementChild.cloneNode(true);
    article.id = `message-${id}`;
    article.setAttribute("hx-get", `/cards/message/${id}`);
    this.entries(run).append(article);
    htmx.process(article);
    this.added++;
    return article;
  }

  snapshot(frame) {
    const { message, thinking, ops } = frame.snapshot;
    const article = this.streaming(frame.run, message);
    if (article.ariaBusy !== "true") return;
    const body = article.querySelector(".body");
    forgetOpen(body);
    setPlain(article.querySelector(".thinking-text"), thinking);
    article.querySelector(".thinking").hidden = !thinking;
    this.write(article, body, ops);
  }

  text(frame) {
    const article = this.streaming(frame.run, frame.message);
    if (article.ariaBusy !== "true") return; // it is finished, and its card has all of it
    for (const [kind, offset, piece] of frame.deltas ?? []) {
      if (kind !== "thinking") continue;
      appendPlain(article.querySelector(".thinking-text"), offset, piece);
      article.querySelector(".thinking").hidden = false;
    }
    if (frame.ops?.length) this.write(article, article.querySelector(".body"), frame.ops);
  }

  write(article, body, ops) {
    const thoughts = article.querySelector(".thinking");
    if (ops.length && !body.firstChild && !thoughts.dataset.touched) thoughts.open = false;
    applyOps(body, ops);
  }

  progress(call, text, fraction) {
    const card = byId(`call-${call}`);
    const line = card?.querySelector(".progress-line");
    if (!line || ENDED.has(card.dataset.status)) return; // a note that was under way when the tool ended
    line.textContent = text;
    line.hidden = !text;
    const bar = card.querySelector("progress");
    bar.hidden = fraction === null;
    if (fraction !== null) bar.value = fraction;
  }
}
