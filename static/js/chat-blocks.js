// A message's blocks: the operations of the server's renderer, applied to the children of its body.

const done = new WeakSet(); // blocks in their last form
const lengths = new WeakMap(); // block → code points of text in it, while it is open
const ends = new WeakMap(); // block → its last text, to which words are appended

// Offsets count code points; strings here count UTF-16 units.
function points(text) {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

export class Hole extends Error {} // text is missing in front of what came

function open(body, index) {
  while (body.children.length <= index) {
    const block = document.createElement("div");
    block.className = "block";
    block.dir = "auto";
    body.append(block);
  }
  return body.children[index];
}

function fill(block, html) {
  block.innerHTML = html; // from our own renderer, which lets only an allow-list through
  lengths.delete(block);
  ends.delete(block);
}

function lastText(block) {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  let last = null;
  while (walker.nextNode()) if (walker.currentNode.data.trim()) last = walker.currentNode;
  if (last) return last;
  const text = new Text();
  (block.querySelector("code") ?? block.querySelector("pre, p") ?? block).append(text);
  return text;
}

// What of the text is new behind `have` code points, when it begins at `offset`. Throws Hole.
function fresh(have, offset, text) {
  if (offset > have) throw new Hole();
  return offset === have ? text : [...text].slice(have - offset).join("");
}

function append(block, offset, text) {
  const have = lengths.get(block) ?? points(block.textContent);
  const words = fresh(have, offset, text);
  if (!ends.get(block)?.isConnected) ends.set(block, lastText(block));
  ends.get(block).appendData(words);
  lengths.set(block, have + points(words));
}

function beginCode(block, language) {
  const pre = document.createElement("pre");
  const code = document.createElement("code");
  pre.dir = "ltr";
  pre.tabIndex = 0;
  if (language) code.className = `language-${language}`;
  pre.append(code);
  fill(block, "");
  block.append(pre);
}

export function applyOps(body, ops) {
  for (const [kind, index, ...rest] of ops) {
    if (kind === "replace") {
      body.replaceChildren();
      index.forEach((html, place) => (fill(open(body, place), html), done.add(body.children[place])));
      continue;
    }
    const block = open(body, index);
    if (done.has(block)) continue;
    if (kind === "text") append(block, ...rest);
    else if (kind === "code") beginCode(block, ...rest);
    else fill(block, rest[0]);
    if (kind === "done") done.add(block);
  }
}

// Everything that may still change goes; the operations that follow build it again.
export function forgetOpen(body) {
  for (const block of [...body.children]) if (!done.has(block)) block.remove();
}

export function appendPlain(element, offset, text) {
  const have = lengths.get(element) ?? points(element.textContent);
  const words = fresh(have, offset, text);
  element.append(words);
  lengths.set(element, have + points(words));
}

export function setPlain(element, text) {
  element.textContent = text;
  lengths.set(element, points(text));
}
