// A choice asks at once. Words ask with Enter, which would otherwise count as a change too and ask twice.
document.addEventListener("change", (event) => {
  if (event.target.matches(".audit-form :is(select, [type=date])")) event.target.form.requestSubmit();
});

// The address of the list of runs says what was asked for, so that it can be kept, sent and reloaded.
document.addEventListener("htmx:before:request", (event) => {
  const form = event.detail.ctx?.sourceElement;
  if (!form?.matches("form.audit-form")) return;
  const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", asked.size ? `?${asked}` : location.pathname);
});
