// <chat-stream>: what happens in a conversation, as its socket tells it. Words come from data-say-*, cards by htmx.
import { Hole } from "./chat-blocks.js";
import { Cards } from "./chat-cards.js";
import { End } from "./chat-end.js";

const FIRST_WAIT = 300, LAST_WAIT = 15000, SILENCE = 45000, OFFLINE_AFTER = 2000; // milliseconds
const SECTION_AFTER = 150, SECTION_AGAIN = 2000;
const LAST_WORDS = { 4401: "saySignedOut", 4403: "sayForbidden", 4404: "sayGone" }; // close codes after which it ends
const SIGNED_OUT = 4401;
const SAID = { running: "sayWorking", waiting: "sayWaiting", finished: "sayFinished" };
const DECISIONS = new Set(["ApprovalRequested", "ApprovalDecided", "QuestionAsked", "QuestionDecided"]);

const byId = (id) => document.getElementById(id);
const place = (cursor) => cursor.split("-").map(Number);
const isLater = (a, b) => (place(a)[0] - place(b)[0] || place(a)[1] - place(b)[1]) > 0;

class ChatStream extends HTMLElement {
  connectedCallback() {
    this.runs = new Map(); // run → { cursor, status }, in the order of their beginning
    this.frames = [];
    this.held = new Map(); // run → frames that wait for its section
    this.tries = 0; // connections in a row that brought nothing
    this.holes = 0; // frames in a row that did not fit
    this.ended = new AbortController();
    this.cards = new Cards(this.querySelector("#log"));
    this.end = new End(this.ended.signal);
    const { run, after } = this.dataset;
    if (run) this.runs.set(run, { cursor: after, status: "" });
    this.listen(this.ended.signal);
    this.connect();
  }

  disconnectedCallback() {
    this.ended.abort();
    clearInterval(this.watch);
    clearTimeout(this.waiting);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  listen(signal) {
    const now = () => this.lost && this.again();
    addEventListener("online", now, { signal });
    addEventListener("pageshow", (event) => event.persisted && !this.over && this.again(), { signal });
    document.addEventListener("visibilitychange", () => {
      this.apply();
      if (!document.hidden) now();
    }, { signal });
    this.watch = setInterval(() => {
      if (this.socket && performance.now() - this.heard > SILENCE) this.again();
    }, 5000);
  }

  // --- the socket -----------------------------------------------------------------------------------------------------

  connect() {
    const url = new URL(this.dataset.url, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const runs = [...this.runs];
    const [run, state] = runs.find(([, each]) => each.status !== "finished") ?? runs.at(-1) ?? [];
    if (run) url.search = new URLSearchParams({ run, after: state.cursor });
    const socket = new WebSocket(url);
    this.socket = socket;
    this.heard = performance.now();
    socket.onmessage = (event) => socket === this.socket && this.receive(JSON.parse(event.data));
    socket.onclose = (event) => socket === this.socket && this.closed(event.code);
  }

  again(wait = 0) {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.frames = [];
    if (!this.lost) {
      this.lost = true;
      this.offline = setTimeout(() => this.tell(this.dataset.sayOffline), OFFLINE_AFTER);
    }
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.connect(), wait);
  }

  // Longer with each try, so that a server in trouble has time.
  later(tries) {
    this.again(Math.min(LAST_WAIT, FIRST_WAIT * 2 ** tries) * (0.5 + Math.random() / 2));
  }

  closed(code) {
    const words = LAST_WORDS[code];
    if (!words) return this.later(this.tries++);
    this.over = true;
    this.socket = null;
    this.lost = false;
    clearTimeout(this.offline);
    this.tell(this.dataset[words]);
    if (code === SIGNED_OUT) location.assign(this.dataset.loginUrl);
  }

  receive(frame) {
    this.heard = performance.now();
    this.tries = 0;
    if (this.lost) this.found();
    if (frame.hint) dispatchEvent(new Event("inbox"));
    if (!frame.run) return;
    this.frames.push(frame);
    if (this.scheduled) return;
    this.scheduled = true;
    if (document.hidden) setTimeout(() => this.apply(), 250);
    else requestAnimationFrame(() => this.apply());
  }

  found() {
    this.lost = false;
    clearTimeout(this.offline);
    if (!byId("connection").hidden) byId("live-status").textContent = this.dataset.sayOnline;
    byId("connection").hidden = true;
    // What is no event (a queued message, someone's decision) may have been missed.
    const open = this.querySelectorAll('.run-state[data-live="true"], .call[data-status="waiting"]');
    for (const card of open) this.cards.refresh(card);
    this.cards.settle();
    this.cards.recover();
    dispatchEvent(new Event("inbox"));
  }

  tell(words) {
    byId("connection").textContent = words;
    byId("connection").hidden = false;
  }

  // --- frames -----------------------------------------------------------------------------------------------------------

  apply() {
    this.scheduled = false;
    const whole = this.frames.splice(0).every((frame) => this.take(frame));
    this.settle();
    if (!whole) this.later(this.holes++); // something is missing: ask for what follows the last frame
  }

  settle() {
    this.end.grown(this.cards.settle());
  }

  take(frame) {
    const state = this.runs.get(frame.run) ?? { cursor: "0-0", status: "" };
    if (frame.c) {
      if (!isLater(frame.c, state.cursor)) return true;
      if (frame.p !== state.cursor) return false;
      state.cursor = frame.c;
      this.runs.set(frame.run, state);
    }
    if (frame.status && frame.status !== state.status) {
      state.status = frame.status;
      if (SAID[frame.status]) byId("live-status").textContent = this.dataset[SAID[frame.status]];
    }
    if (frame.events?.some((event) => DECISIONS.has(event.kind))) dispatchEvent(new Event("inbox"));
    if (this.held.has(frame.run)) this.held.get(frame.run).push(frame);
    else if (byId(`run-${frame.run}`)) return this.show(frame);
    else this.hold(frame);
    return true;
  }

  show(frame) {
    try {
      this.cards.show(frame);
      this.holes = 0;
    } catch (error) {
      if (!(error instanceof Hole)) throw error;
      const state = this.runs.get(frame.run);
      state.cursor = `${place(state.cursor)[0]}-0`; // from the beginning of the open message
      return false;
    }
    return true;
  }

  // The answer to the form that began a run brings its section; in other tabs it is fetched. Its frames wait for it.
  hold(frame) {
    const { run } = frame;
    this.held.set(run, [frame]);
    const look = async () => {
      const sending = document.querySelector("#composer.htmx-request, #log form.htmx-request");
      if (!byId(`run-${run}`) && !sending) {
        const how = { source: this, target: "#log", swap: "beforeend" };
        await htmx.ajax("GET", `/cards/run/${run}?part=section`, how);
      }
      if (!this.isConnected) return;
      if (!byId(`run-${run}`)) return setTimeout(look, sending ? SECTION_AFTER : SECTION_AGAIN);
      const frames = this.held.get(run);
      this.held.delete(run);
      const whole = frames.every((each) => this.show(each));
      this.settle();
      if (!whole) this.later(this.holes++);
    };
    setTimeout(look, SECTION_AFTER);
  }
}

customElements.define("chat-stream", ChatStream);
