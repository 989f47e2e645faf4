// The table on boardgame.io: its master runs the moves, its playerView redacts, its memory keeps.

import { createRequire } from "node:module";
import { begin, isOver, next, play, view } from "../scopone.mjs";

const { Server, Origins } = createRequire(import.meta.url)("boardgame.io/dist/cjs/server.js");
const { INVALID_MOVE } = createRequire(import.meta.url)("boardgame.io/dist/cjs/core.js");

const scopone = {
  name: "scopone",
  minPlayers: 4,
  maxPlayers: 4,
  disableUndo: true,
  setup: () => begin(0),
  turn: {
    minMoves: 1,
    maxMoves: 1,
    order: { first: ({ G }) => G.toPlay, next: ({ G }) => G.toPlay },
  },
  moves: {
    play: {
      client: false,
      move: ({ G, playerID }, card, take) => {
        if (!play(G, Number(playerID), card, take)) return INVALID_MOVE;
        if (isOver(G)) Object.assign(G, next(G));
        return undefined;
      },
    },
  },
  playerView: ({ G, playerID }) => view(G, Number(playerID)),
};

const server = Server({ games: [scopone], origins: [Origins.LOCALHOST] });
const { appServer } = await server.run({ port: 0 });
console.log(`port ${appServer.address().port}`);
