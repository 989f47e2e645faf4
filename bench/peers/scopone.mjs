// Scopone scientifico for four, as simply as it can be: ten cards each, the table empty, a card
// takes its equal or else cards that sum to it, and must. In memory, nothing kept.

import { readFileSync } from "node:fs";

/** The decks to deal, one after the other: every contender's tables play the same cards. */
export const DECKS = process.argv[2] ? JSON.parse(readFileSync(process.argv[2], "utf8")) : [];

const PRIMIERA = [0, 16, 12, 13, 14, 15, 18, 21, 10, 10, 10];
const value = (card) => parseInt(card, 10);
const suit = (card) => card.at(-1);

export function begin(number, score = [0, 0], count = null) {
  const dealer = number % 4;
  const leader = (dealer + 1) % 4;
  const hands = [[], [], [], []];
  DECKS[number % DECKS.length].forEach((card, i) => hands[(leader + i) % 4].push(card));
  return {
    deal: number + 1,
    dealer,
    leader,
    turn: 1,
    toPlay: leader,
    hands,
    table: [],
    piles: [[], []],
    scope: [0, 0],
    lastTaker: null,
    recent: [],
    score,
    count,
  };
}

export function options(hand, table) {
  return Object.fromEntries(hand.map((card) => [card, sets(value(card), table)]));
}

function sets(wanted, table) {
  const equal = table.filter((card) => value(card) === wanted);
  return equal.length ? equal.map((card) => [card]) : sums(wanted, table, 0);
}

function sums(wanted, table, from) {
  if (wanted === 0) return [[]];
  const found = [];
  for (let i = from; i < table.length; i++) {
    const left = wanted - value(table[i]);
    if (left < 0) continue;
    for (const rest of sums(left, table, i + 1)) found.push([table[i], ...rest]);
  }
  return found;
}

function legal(state, card, take) {
  if (!state.hands[state.toPlay].includes(card)) return false;
  const allowed = sets(value(card), state.table);
  if (!take.length) return !allowed.length;
  return allowed.some((set) => set.length === take.length && set.every((one) => take.includes(one)));
}

/** Plays a card, changing the state; false if it may not be played. */
export function play(state, seat, card, take) {
  if (seat !== state.toPlay || !legal(state, card, take)) return false;
  const hand = state.hands[seat];
  hand.splice(hand.indexOf(card), 1);
  const last = state.hands.every((held) => !held.length);
  let scopa = false;
  if (take.length) {
    state.table = state.table.filter((lying) => !take.includes(lying));
    state.piles[seat % 2].push(card, ...take);
    state.lastTaker = seat;
    scopa = !state.table.length && !last;
    if (scopa) state.scope[seat % 2] += 1;
  } else {
    state.table.push(card);
  }
  state.recent = [...state.recent, { seat, card, take, scopa }].slice(-4);
  state.turn += 1;
  state.toPlay = (seat + 1) % 4;
  return true;
}

export const isOver = (state) => state.hands.every((held) => !held.length);

/** Counts a finished deal and deals the next. */
export function next(state) {
  if (state.lastTaker !== null) state.piles[state.lastTaker % 2].push(...state.table);
  const count = counted(state);
  const score = state.score.map((points, side) => points + count[side].total);
  return begin(state.deal, Math.max(...score) >= 21 ? [0, 0] : score, count);
}

function counted(state) {
  const [a, b] = state.piles.map((pile, side) => ({
    cards: pile.length,
    coins: pile.filter((card) => suit(card) === "D").length,
    settebello: pile.includes("7D") ? 1 : 0,
    primiera: primiera(pile),
    scope: state.scope[side],
  }));
  const points = (one, other) =>
    ["cards", "coins", "primiera"].filter((item) => one[item] > other[item]).length +
    one.settebello +
    one.scope;
  return [
    { ...a, total: points(a, b) },
    { ...b, total: points(b, a) },
  ];
}

function primiera(pile) {
  const best = { D: 0, C: 0, S: 0, B: 0 };
  for (const card of pile) {
    best[suit(card)] = Math.max(best[suit(card)], PRIMIERA[value(card)]);
  }
  return Object.values(best).every(Boolean) ? Object.values(best).reduce((x, y) => x + y) : 0;
}

/** What a seat may see: its own hand alone, and what it may take when it is its turn. */
export function view(state, seat) {
  const hand = state.hands[seat];
  return {
    deal: state.deal,
    dealer: state.dealer,
    turn: state.turn,
    toPlay: state.toPlay,
    you: seat,
    hand,
    options: seat === state.toPlay ? options(hand, state.table) : null,
    table: state.table,
    seats: state.hands.map((held, number) => ({ seat: number, side: number % 2, cards: held.length })),
    sides: state.piles.map((pile, side) => ({
      side,
      captured: pile.length,
      scope: state.scope[side],
      score: state.score[side],
    })),
    recent: state.recent,
    count: state.count,
  };
}
