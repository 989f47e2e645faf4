// What both tables on Colyseus share: four sit down, say that they are ready, and play.

import { createServer } from "node:http";
import { Room, Server } from "@colyseus/core";
import { WebSocketTransport } from "@colyseus/ws-transport";

export class Table extends Room {
  maxClients = 4;
  patchRate = null;
  ready = 0;
  seated = 0;

  onCreate() {
    this.onMessage("ready", () => {
      this.ready += 1;
      if (this.ready === 4) this.deal();
    });
    this.onMessage("play", (client, move) => {
      if (!this.play(client.seat, move)) client.error(4000, "that can't be played");
    });
  }

  onJoin(client) {
    client.seat = this.seated;
    this.seated += 1;
  }
}

export async function serve(kind) {
  const http = createServer();
  const transport = new WebSocketTransport({ server: http, pingInterval: 20000 });
  const server = new Server({ transport, greet: false });
  server.define("scopone", kind);
  await server.listen(0, "127.0.0.1");
  console.log(`port ${http.address().port}`);
}
