// What a page needs beside htmx: what is done early, keys, focus, and telling that the server does not answer.
"use strict";
(() => {
  // htmx takes an element over a moment after it can be seen. What is pressed, sent or typed before waits for that;
  // the browser itself would send the form as an address.
  const early = new Map();
  const isHtmx = (element) => element.hasAttribute("data-htmx-powered");
  const keep = (event) => {
    const element = event.target.closest && event.target.closest("[hx-get], [hx-post]");
    if (!element || isHtmx(element)) return;
    const form = element.tagName === "FORM";
    if (event.type === "submit" || (event.type === "click" && !form)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      const { submitter } = event;
      early.set(element, () => (form ? element.requestSubmit(submitter) : element.click()));
    } else if (event.type === "input" || event.type === "change") {
      const { target, type } = event;
      early.set(target, () => target.dispatchEvent(new Event(type, { bubbles: true })));
    }
  };
  for (const type of ["submit", "click", "input", "change"]) document.addEventListener(type, keep, true);
  document.addEventListener("htmx:after:process", () => {
    for (const [element, again] of early) {
      const taker = element.closest("[hx-get], [hx-post]");
      if (taker && taker.isConnected && !isHtmx(taker)) continue;
      early.delete(element);
      if (taker && taker.isConnected) again();
    }
  });

  const offline = () => document.getElementById("offline");
  let asking = null;

  // A server that went away is asked every two seconds; the page says so until it is back.
  const wait = () => {
    if (asking) return;
    offline().hidden = false;
    asking = setInterval(async () => {
      try {
        const answer = await fetch("/ui/alive", { redirect: "manual", cache: "no-store" });
        clearInterval(asking);
        asking = null;
        if (answer.ok) offline().hidden = true;
        else location.href = "/ui/sign-in";
      } catch { /* still away */ }
    }, 2000);
  };
  document.addEventListener("htmx:error", (event) => {
    const error = event.detail && event.detail.error;
    if (error instanceof TypeError || (error && error.name === "AbortError")) wait();
  });
  document.addEventListener("htmx:before:request", () => {
    const notice = document.getElementById("notice");
    if (notice) notice.replaceChildren();
  });

  // What was told stands in the list at once, unless somebody is at work on a line of it.
  document.addEventListener("told", () => {
    const rows = document.getElementById("rows");
    if (rows && !rows.querySelector(".editing")) document.querySelector("form[hx-target='#rows']").requestSubmit();
  });

  // A slider says the time or the budget that it stands for, to the eye and to a screen reader.
  document.addEventListener("htmx:after:swap", () => {
    const told = document.querySelectorAll("#moment time, #context data");
    document.querySelectorAll("label:has(> .chosen)").forEach((label, place) => {
      if (!told[place]) return;
      label.querySelector(".chosen").textContent = told[place].textContent;
      label.querySelector("input").setAttribute("aria-valuetext", told[place].textContent);
    });
  });

  // What was put in takes the focus where it asks for it, and where it stands for what had it: a keyboard goes on in
  // place. The choice that was made has it again, or what opened the form that was left.
  let left = null;
  document.addEventListener("htmx:before:swap", () => {
    const held = document.activeElement;
    const places = [];
    for (let one = held; one && one.closest("main > *"); one = one.parentElement) {
      places.push({ parent: one.parentElement, before: one.previousElementSibling });
    }
    left = { held, places, form: held && (held.closest("form[hx-post]") || held.querySelector("form[hx-post]")) };
  });
  document.addEventListener("htmx:after:swap", () => {
    const wanted = document.querySelector("main [autofocus]");
    if (wanted) {
      wanted.focus();
      wanted.removeAttribute("autofocus");
      return;
    }
    const place = left && left.held && !left.held.isConnected && left.places.find((one) => one.parent.isConnected);
    if (!place) return;
    const { held, form } = left;
    const behind = place.before && place.before.parentElement === place.parent;
    const made = (behind ? place.before.nextElementSibling : place.parent.firstElementChild) || place.parent;
    const same = held.type === "radio" && `[name="${CSS.escape(held.name)}"][value="${CSS.escape(held.value)}"]`;
    const opener = form && `[hx-get="${CSS.escape(form.getAttribute("hx-post"))}"]`;
    const next = (same && made.querySelector(same)) || (opener && made.querySelector(opener)) || made;
    if (next === made && !made.hasAttribute("tabindex")) made.tabIndex = -1;
    next.focus({ preventScroll: true });
  });

  // "g" and a letter goes to a page, "/" to the search; a letter does what the button of the card in focus says, or of
  // the first one behind the focus: never of one that was passed over.
  let lead = 0;
  const typing = (target) => target.closest && target.closest("input, textarea, select, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      const leave = event.target.closest && event.target.closest(".editing");
      const button = leave && leave.querySelector("button[type=button]");
      if (button) button.click();
      return;
    }
    if (typing(event.target)) return;
    if (event.key === "g") {
      lead = Date.now();
      return;
    }
    if (Date.now() - lead < 1200) {
      lead = 0;
      const link = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
      if (link) link.click();
      return;
    }
    const field = document.querySelector(`main [data-key="${CSS.escape(event.key)}"]`);
    const isNext = (one) => one.contains(event.target)
      || event.target.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING;
    const card = [...document.querySelectorAll("[data-card]")].find(isNext);
    const button = card && card.querySelector(`button[data-press="${CSS.escape(event.key)}"]`);
    if (button) {
      event.preventDefault();
      button.click();
    } else if (field) {
      event.preventDefault();
      field.focus();
    }
  });
})();
