"""The files of the snake game that the scripted model writes: no script or style inside the page."""

SNAKE_HTML = """\
<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Snake</title>
  <link rel="stylesheet" href="snake.css">
</head>
<body>
  <main>
    <h1>Snake</h1>
    <p class="score">Score <output id="score">0</output> · Best <output id="best">0</output></p>
    <canvas id="board" width="400" height="400" tabindex="0" aria-label="Game board"></canvas>
    <p id="message" role="status">Arrow keys or WASD to steer, space to pause. On a phone, swipe.</p>
    <button id="restart" type="button">New game</button>
  </main>
  <script src="snake.js" defer></script>
</body>
</html>
"""

SNAKE_CSS = """\
:root {
  color-scheme: light dark;
  --board: light-dark(#eef3e6, #17211a);
  --line: light-dark(#cfd9c2, #2c3a30);
  --snake: light-dark(#2f7d32, #6fcf73);
  --food: light-dark(#c62828, #ff7961);
}

body {
  margin: 0;
  min-height: 100vh;
  display: grid;
  place-items: center;
  font-family: system-ui, sans-serif;
}

main {
  display: grid;
  gap: 0.75rem;
  justify-items: center;
  padding: 1rem;
}

h1,
p {
  margin: 0;
}

canvas {
  width: min(90vw, 400px);
  height: auto;
  background: var(--board);
  color: var(--snake);
  outline: 0 solid var(--food);
  border: 1px solid var(--line);
  border-radius: 8px;
  touch-action: none;
}

button {
  font: inherit;
  padding: 0.5rem 1.25rem;
  border-radius: 6px;
  border: 1px solid var(--line);
  cursor: pointer;
}
"""

SNAKE_JS = """\
"use strict";

const CELLS = 20;
const STEP_MS = 140;
const FASTEST_MS = 70;
const DIRECTIONS = {
  ArrowUp: [0, -1], KeyW: [0, -1],
  ArrowDown: [0, 1], KeyS: [0, 1],
  ArrowLeft: [-1, 0], KeyA: [-1, 0],
  ArrowRight: [1, 0], KeyD: [1, 0],
};

const canvas = document.getElementById("board");
const pen = canvas.getContext("2d");
const scoreOut = document.getElementById("score");
const bestOut = document.getElementById("best");
const message = document.getElementById("message");
const size = canvas.width / CELLS;

let snake, direction, turns, food, score, best = 0, timer = null, over = false;

function newGame() {
  snake = [[8, 10], [7, 10], [6, 10]];
  direction = [1, 0];
  turns = [];
  score = 0;
  over = false;
  placeFood();
  say("Go!");
  start();
  draw();
}

function placeFood() {
  const free = [];
  for (let x = 0; x < CELLS; x += 1) {
    for (let y = 0; y < CELLS; y += 1) {
      if (!snake.some(([sx, sy]) => sx === x && sy === y)) free.push([x, y]);
    }
  }
  food = free[Math.floor(Math.random() * free.length)];
}

function pace() {
  return Math.max(FASTEST_MS, STEP_MS - score * 3);
}

function start() {
  clearTimeout(timer);
  timer = setTimeout(step, pace());
}

function stop() {
  clearTimeout(timer);
  timer = null;
}

function step() {
  direction = turns.shift() || direction;
  const head = [snake[0][0] + direction[0], snake[0][1] + direction[1]];
  const eats = food && head[0] === food[0] && head[1] === food[1];
  const body = eats ? snake : snake.slice(0, -1);
  const outside = head.some((at) => at < 0 || at >= CELLS);
  if (outside || body.some(([x, y]) => x === head[0] && y === head[1])) {
    end("Game over. Press “New game” or Enter.");
    return;
  }
  snake = [head, ...body];
  if (eats) {
    score += 1;
    best = Math.max(best, score);
    placeFood();
    if (!food) {
      end("You filled the board. Well done!");
      return;
    }
  }
  draw();
  start();
}

function end(text) {
  over = true;
  stop();
  say(text);
  draw();
}

function say(text) {
  message.textContent = text;
}

function turn(next) {
  const last = turns.length ? turns[turns.length - 1] : direction;
  const reverses = last[0] + next[0] === 0 && last[1] + next[1] === 0;
  if (!reverses && turns.length < 3) turns.push(next);
}

function togglePause() {
  if (over) return;
  if (timer) {
    stop();
    say("Paused. Space goes on.");
  } else {
    say("Go!");
    start();
  }
}

function square([x, y], inset) {
  pen.fillRect(x * size + inset, y * size + inset, size - 2 * inset, size - 2 * inset);
}

function draw() {
  scoreOut.textContent = score;
  bestOut.textContent = best;
  pen.clearRect(0, 0, canvas.width, canvas.height);
  const style = getComputedStyle(canvas);
  pen.fillStyle = style.color;
  snake.forEach((part, at) => {
    pen.globalAlpha = at === 0 ? 1 : 0.75;
    square(part, 1);
  });
  pen.globalAlpha = 1;
  if (food) {
    pen.fillStyle = style.outlineColor;
    pen.beginPath();
    pen.arc((food[0] + 0.5) * size, (food[1] + 0.5) * size, size / 2.6, 0, 2 * Math.PI);
    pen.fill();
  }
}

document.addEventListener("keydown", (event) => {
  if (event.code in DIRECTIONS) {
    event.preventDefault();
    turn(DIRECTIONS[event.code]);
  } else if (event.code === "Space") {
    event.preventDefault();
    togglePause();
  } else if (event.code === "Enter" && over) {
    event.preventDefault();
    newGame();
  }
});

let touched = null;
canvas.addEventListener("pointerdown", (event) => {
  touched = [event.clientX, event.clientY];
});
canvas.addEventListener("pointerup", (event) => {
  if (!touched) return;
  const dx = event.clientX - touched[0];
  const dy = event.clientY - touched[1];
  touched = null;
  if (Math.max(Math.abs(dx), Math.abs(dy)) < 20) return;
  turn(Math.abs(dx) > Math.abs(dy) ? [Math.sign(dx), 0] : [0, Math.sign(dy)]);
});

document.getElementById("restart").addEventListener("click", newGame);
newGame();
"""
# The drawing takes its colours from two computed properties of the canvas, so that it follows light and dark.
SNAKE_FILES = {"snake.html": SNAKE_HTML, "snake.css": SNAKE_CSS, "snake.js": SNAKE_JS}
