// The table on Colyseus by messages: a view made for each of the four, sent by `client.send`.

import { begin, isOver, next, play, view } from "../scopone.mjs";
import { Table, serve } from "./table.mjs";

class Messages extends Table {
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

  show() {
    for (const client of this.clients) client.send("view", view(this.game, client.seat));
  }
}

serve(Messages);
