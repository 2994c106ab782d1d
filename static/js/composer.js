// The message field: Enter, drafts, and what happens to the text when it was sent.
(() => {
  "use strict";
  const field = document.getElementById("composer-text");
  if (!field) return;
  const form = field.form;
  const send = document.getElementById("composer-send");
  const later = document.getElementById("composer-later");
  const place = `draft:${field.dataset.draft}`;
  const touch = window.matchMedia("(pointer: coarse)");

  // --- Enter --------------------------------------------------------------------------------------------------------

  field.addEventListener("keydown", (event) => {
    // An Enter that ends a composition belongs to the input method; Safari tells by key code only.
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    if (event.shiftKey || (touch.matches && !event.ctrlKey && !event.metaKey)) return;
    event.preventDefault();
    if (!field.value.trim()) return;
    const queue = (event.ctrlKey || event.metaKey) && later?.checkVisibility();
    form.requestSubmit(queue ? later : send);
  });

  // --- drafts -------------------------------------------------------------------------------------------------------

  function keep() {
    try {
      if (field.value) sessionStorage.setItem(place, field.value);
      else sessionStorage.removeItem(place);
    } catch {
      // Storage may be full or forbidden: then there are no drafts.
    }
  }

  function restore() {
    try {
      if (!field.value) field.value = sessionStorage.getItem(place) ?? "";
    } catch {
      // As above.
    }
  }

  field.addEventListener("input", keep);
  restore();

  // --- sending ------------------------------------------------------------------------------------------------------

  let sent = null;
  let failed = false;

  function newKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(18));
    return btoa(String.fromCharCode(...bytes));
  }

  form.addEventListener("htmx:config:request", () => {
    // The same text sent again counts once; another text is another message.
    if (failed && sent !== field.value) document.getElementById("composer-key").value = newKey();
    sent = field.value;
    failed = false;
  });

  form.addEventListener("htmx:after:swap", (event) => {
    if (event.detail.ctx.sourceElement !== form) return;
    if (event.detail.ctx.response.status >= 400) {
      failed = true;
      field.focus();
      return;
    }
    field.value = field.value === sent ? "" : field.value;
    keep();
    window.scrollTo(0, document.documentElement.scrollHeight);
  });

  form.addEventListener("htmx:error", () => (failed = true));

  if (!form.hasAttribute("hx-post")) form.addEventListener("submit", () => sessionStorage.removeItem(place));

  // A message that the run never took goes back into the field.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-take-back]");
    if (!button) return;
    field.value = field.value ? `${button.dataset.takeBack}\n\n${field.value}` : button.dataset.takeBack;
    keep();
    field.focus();
  });

  // A conversation opens where a decision is wanted; <chat-stream> has shown its end before.
  document.addEventListener("DOMContentLoaded", () => {
    if (!location.hash) document.querySelector(".approval.pending")?.closest(".call").scrollIntoView({ block: "start" });
  });
})();
