// The table on Colyseus by schema: the state is synchronised by patches, and each seat's own part
// of it is in that seat's StateView alone. Sets of cards are text: arrays of them cost it four times
// as much.

import { ArraySchema, Schema, StateView, defineTypes, view } from "@colyseus/schema";
import { begin, isOver, next, options, play } from "../scopone.mjs";
import { Table, serve } from "./table.mjs";

class Seat extends Schema {}
defineTypes(Seat, {
  seat: "number",
  side: "number",
  cards: "number",
  hand: "string",
  options: "string",
});
view()(Seat.prototype, "hand");
view()(Seat.prototype, "options");

class Side extends Schema {}
defineTypes(Side, {
  side: "number",
  captured: "number",
  scope: "number",
  score: "number",
  count: "string",
});

class State extends Schema {
  constructor() {
    super();
    this.seats = new ArraySchema();
    this.sides = new ArraySchema();
  }
}
defineTypes(State, {
  deal: "number",
  dealer: "number",
  turn: "number",
  toPlay: "number",
  table: "string",
  recent: "string",
  seats: [Seat],
  sides: [Side],
});

class Schemed extends Table {
  state = new State();

  onCreate() {
    super.onCreate();
    for (let seat = 0; seat < 4; seat++) {
      const nothing = { cards: 0, hand: "", options: "" };
      this.state.seats.push(new Seat().assign({ seat, side: seat % 2, ...nothing }));
    }
    for (let side = 0; side < 2; side++) {
      this.state.sides.push(new Side().assign({ side, captured: 0, scope: 0, score: 0, count: "" }));
    }
  }

  onJoin(client) {
    super.onJoin(client);
    client.view = new StateView();
    client.view.add(this.state.seats[client.seat]);
  }

  deal() {
    this.game = begin(0);
    this.show();
  }

  play(seat, { card, take }) {
    if (!play(this.game, seat, card, take)) return false;
    if (isOver(this.game)) this.game = next(this.game);
    this.show();
    return true;
  }

  /** Brings the state to where the game is; what is the same isn't sent. */
  show() {
    const { game, state } = this;
    state.deal = game.deal;
    state.dealer = game.dealer;
    state.turn = game.turn;
    state.toPlay = game.toPlay;
    state.table = game.table.join(" ");
    state.recent = game.recent.map(({ seat, card, take }) => [seat, card, ...take].join(" ")).join();
    game.hands.forEach((hand, number) => this.showSeat(state.seats[number], hand));
    game.piles.forEach((pile, number) => this.showSide(state.sides[number], pile));
    this.broadcastPatch();
  }

  showSeat(seat, hand) {
    seat.cards = hand.length;
    seat.hand = hand.join(" ");
    seat.options = seat.seat === this.game.toPlay ? listed(options(hand, this.game.table)) : "";
  }

  showSide(side, pile) {
    side.captured = pile.length;
    side.scope = this.game.scope[side.side];
    side.score = this.game.score[side.side];
    side.count = this.game.count ? JSON.stringify(this.game.count[side.side]) : "";
  }
}

function listed(found) {
  return Object.entries(found)
    .map(([card, sets]) => `${card}: ${sets.map((set) => set.join(" ")).join(" | ")}`)
    .join(", ");
}

serve(Schemed);
