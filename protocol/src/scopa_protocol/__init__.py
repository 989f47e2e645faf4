"""The wire vocabulary of Scopa Server: cards, messages, views, codes and codec."""

VERSION = "0.1.0"
WIRE_VERSION = 1
