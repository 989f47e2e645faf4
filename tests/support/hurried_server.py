"""The server with less patience: who is gone for a second is away, also just after a load."""

import sys

from scopa_server.__main__ import main
from scopa_server.live import clocks

if __name__ == "__main__":
    vars(clocks).update(FIRST_MS_AFTER_LOAD=0, AWAY_AFTER_MS=1000)
    sys.exit(main())
