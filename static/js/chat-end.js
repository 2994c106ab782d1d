// Keeps the end of the page in view while it grows, until the reader looks elsewhere.

const NEAR = 80; // pixels from the end that still count as its end
const UPWARDS = new Set(["PageUp", "ArrowUp", "Home"]);

export class End {
  constructor(signal) {
    this.jump = document.getElementById("jump-latest");
    this.unseen = 0;
    this.following = true;
    const away = () => (this.following = false);
    addEventListener("wheel", (event) => event.deltaY < 0 && away(), { signal, passive: true });
    addEventListener("touchmove", away, { signal, passive: true });
    addEventListener("keydown", (event) => UPWARDS.has(event.key) && !event.target.closest?.("textarea, input") && away(), { signal });
    addEventListener("scroll", () => this.scrolled(), { signal, passive: true });
    this.jump?.querySelector("button").addEventListener("click", () => this.go(), { signal });
    if (location.hash) this.following = this.near();
    else this.go();
  }

  near() {
    const page = document.scrollingElement;
    return page.scrollHeight - page.clientHeight - page.scrollTop < NEAR;
  }

  go() {
    this.following = true;
    document.scrollingElement.scrollTop = document.scrollingElement.scrollHeight;
    this.show();
  }

  scrolled() {
    if (this.near()) this.following = true;
    this.show();
  }

  // `added`: how many messages and cards are new.
  grown(added) {
    const selecting = !getSelection().isCollapsed && getSelection().anchorNode?.parentElement?.closest("#log");
    if (this.following && !selecting) return this.go();
    this.unseen += added;
    this.show();
  }

  show() {
    if (!this.jump) return;
    const away = !this.following && !this.near();
    if (!away) this.unseen = 0;
    this.jump.hidden = !away;
    this.jump.querySelector(".count-new").textContent = this.unseen ? `(${this.unseen})` : "";
  }
}
